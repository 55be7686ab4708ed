/// Lists of batch jobs: when each was submitted, how many GPUs it takes and how long it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth {

/// A job that runs on all of its GPUs or on none. Times are whole seconds.
struct ListedJob {
  std::string name = {};
  std::string tenant = "default";
  std::int64_t submit_s = 0;
  std::int64_t gpus = 1;
  std::int64_t duration_s = 1;
  std::optional<std::int64_t> estimate_s = std::nullopt;  ///< what its owner expects
  std::int64_t priority = 0;                              ///< higher goes first
  std::int64_t checkpoint_s = 0;  ///< a preempted job keeps its progress in multiples of it; 0: all of it
  bool is_preemptible = true;
  std::optional<std::int64_t> deadline_s = std::nullopt;  ///< on the clock of submit_s
  std::size_t line = 0;                                   ///< of the file, from 1: for messages
  friend bool operator==(const ListedJob&, const ListedJob&) = default;
};

enum class JobListFormat { kOwn, kPhilly, kShockwave };

/// Reads a list in the order of its rows, with the earliest submit at 0.
///
/// kOwn: CSV, `job,submit_s,gpus,duration_s[,tenant,estimate_s,priority,checkpoint_s,preemptible,deadline_s]`. kPhilly:
/// CSV, `timestamp,duration,num_gpus,cluster` of the Philly traces; the cluster is the tenant. kShockwave: tab-
/// separated lines of the Shockwave traces without a header; the estimate is the duration. In the latter two, jobs are
/// named by their row, from 0, and decimals are rounded up.
///
/// Errors, as FILE:LINE:COLUMN: unreadable fields, numbers out of range (0 to 10^9; GPUs, duration and estimate from
/// 1), a repeated name, no job.
[[nodiscard]] Result<std::vector<ListedJob>> read_jobs(std::string_view text, std::string_view file,
                                                       JobListFormat format);

}  // namespace berth
