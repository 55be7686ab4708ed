/// One thing changed at one second, all before it as it was: would a job start?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/jobs/moment.h"

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
  WhatIf(const Moment& moment, JobIndex job);

  /// Whether the job starts when the policy decides at that second with this changed; where jobs are preempted for it,
  /// without others that the policy preempts for it. Requires: the job waits after the unchanged decision; jobs to
  /// preempt are others that may be preempted.
  [[nodiscard]] bool starts(const Change& change);
  /// The least of these amounts, ascending, that makes it start; nothing if none does. More need not help where less
  /// does (others may start first, but under fifo and sjf), so the first kTriedOneByOne are tried one by one; of more
  /// the last must help, and the one before the answer does not.
  [[nodiscard]] std::optional<Change> least_of(Change change, std::span<const std::int64_t> amounts);
  /// The same of all amounts from `least` to `most`.
  [[nodiscard]] std::optional<Change> least(Change change, std::int64_t least, std::int64_t most);

  static constexpr std::int64_t kTriedOneByOne = 300;

 private:
  /// The least of the amounts of the steps from 0 to `count` - 1.
  template <class AmountOf>
  [[nodiscard]] std::optional<Change> least_step(Change change, std::int64_t count, const AmountOf& amount_of);
  /// Changes the workload, and with -1 back.
  void apply(const Change& change, std::int64_t sign);
  /// With the workload as it is.
  [[nodiscard]] bool starts_now(const Change& change) const;
  /// Preemptions of the decision for the job, or for the guarantee of its tenant.
  [[nodiscard]] std::int64_t preempted_for_it(const Simulation& run) const;

  const Moment* moment_;
  JobIndex job_;
  Workload workload_;  ///< that of the moment, but for the change that is being tried
};

}  // namespace berth::sched
