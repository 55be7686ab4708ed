/// One change at one second, with the same past: would a job start?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/jobs/workload.h"

namespace berth::sched {

class Simulation;
struct Moment;

enum class ChangeKind : std::uint8_t { kGpus, kLimit, kPriority, kPreempt };
[[nodiscard]] std::string_view name_of(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kGpus;
  std::string where = {};           ///< the tenant of a limit, the job of a priority; else "pool"
  std::int64_t by = 0;              ///< GPUs, steps of priority, or jobs
  std::vector<JobIndex> jobs = {};  ///< those that are preempted
};

/// Tries changes to the state at one moment. The moment must outlive it.
class WhatIf {
 public:
  WhatIf(const Moment& moment, JobIndex job);

  /// Whether the job starts when the policy decides at that second with this change; if the change preempts jobs, the
  /// policy must preempt no further ones for it. Requires: the job waits after the unchanged decision; the jobs to
  /// preempt are other jobs that may be preempted.
  [[nodiscard]] bool starts(const Change& change);
  /// The least of these amounts, ascending, that makes it start; nothing if none does. A larger amount need not help
  /// where a smaller one does (except under fifo and sjf, others may start first), so the first kTriedOneByOne are
  /// tried one by one; beyond them the answer is one that helps while the amount before it does not, provided that the
  /// last amount helps.
  [[nodiscard]] std::optional<Change> least_of(Change change, std::span<const std::int64_t> amounts);
  /// The same for all amounts from `least` to `most`.
  [[nodiscard]] std::optional<Change> least(Change change, std::int64_t least, std::int64_t most);

  static constexpr std::int64_t kTriedOneByOne = 300;

 private:
  /// The same for the amounts of the steps from 0 to `count` - 1.
  template <class AmountOf>
  [[nodiscard]] std::optional<Change> least_step(Change change, std::int64_t count, const AmountOf& amount_of);
  /// Applies the change to the workload; with sign -1 undoes it.
  void apply(const Change& change, std::int64_t sign);
  /// Whether the job starts with the current workload.
  [[nodiscard]] bool starts_now(const Change& change) const;
  /// The decision's preemptions for the job, or for the guarantee of its tenant.
  [[nodiscard]] std::int64_t preempted_for_it(const Simulation& run) const;

  const Moment* moment_;
  JobIndex job_;
  Workload workload_;  ///< that of the moment, with the change being tried
};

}  // namespace berth::sched
