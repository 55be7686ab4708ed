/// One thing changed at one second, all before it as it was: would a job start?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sched/moment.h"

namespace berth::sched {

enum class ChangeKind : std::uint8_t { kGpus, kLimit, kPriority, kPreempt };
[[nodiscard]] std::string_view name_of(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kGpus;
  std::string where = {};           ///< the tenant of a limit, the job of a priority; else "pool"
  std::int64_t by = 0;              ///< GPUs, steps of priority, or jobs
  std::vector<JobIndex> jobs = {};  ///< those that are preempted
};

/// Tries changes of one moment. The moment must outlive it.
class WhatIf {
 public:
  WhatIf(const Moment& moment, JobIndex job) : moment_(&moment), job_(job) {}

  /// Whether the job starts when the policy decides at that second with this changed. Requires: the job waits; jobs to
  /// preempt may be preempted.
  [[nodiscard]] bool starts(const Change& change) const;
  /// The least change by 1 to `most` that makes it start, in the sense that one less does not; nothing if even the most
  /// does not. O(log most) decisions.
  [[nodiscard]] std::optional<Change> least(Change change, std::int64_t most) const;

 private:
  [[nodiscard]] Workload changed(const Change& change) const;

  const Moment* moment_;
  JobIndex job_;
};

/// For each thing that can be changed the smallest change alone that makes a waiting job start: GPUs of the pool, a
/// limit above it, its priority, jobs to preempt (as few as possible, those that lose least; none by policies with
/// rounds, which preempt by themselves). What does not help is left out.
[[nodiscard]] std::vector<Change> smallest_changes(const Moment& moment, JobIndex job);

}  // namespace berth::sched
