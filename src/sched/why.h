/// Why a job waits at a second, and what would have to change for it to start then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sched/simulation.h"

namespace berth::sched {

enum class Verdict { kNotSubmitted, kWaiting, kStartable, kRunning, kFinished };
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// What stands in the way of a start. `kCapacity`: GPUs free in the pool. `kLimit`: GPUs left below the limit of a tenant or group.
/// `kOrder`: the job fits, but another is served first, for which the GPUs are kept or which blocks the queue. `kRound`: the
/// policy decides at another second.
enum class BlockerCode { kCapacity, kLimit, kOrder, kRound };
[[nodiscard]] std::string_view name_of(BlockerCode code);

/// GPUs, of `kRound` seconds: the next decision, and now.
struct Blocker {
  BlockerCode code = BlockerCode::kCapacity;
  std::int64_t needed = 0;
  std::int64_t available = 0;
  std::string where = {};  ///< a tenant, a job, or "pool"
};

enum class ChangeKind { kGpus, kLimit, kPriority, kPreempt };
[[nodiscard]] std::string_view name_of(ChangeKind kind);

/// The least of one thing that would have made the job start at that second, all else being as it was.
struct Change {
  ChangeKind kind = ChangeKind::kGpus;
  std::string where = {};          ///< the tenant of a limit; else "pool" or the job
  std::int64_t by = 0;             ///< GPUs, steps of priority, or jobs
  std::vector<JobIndex> jobs = {};  ///< those that would be preempted
};

/// Who is served before a job.
struct Ahead {
  std::vector<JobIndex> jobs = {};  ///< in order
  double gpu_hours = 0;             ///< that they are expected to take
};

struct Explanation {
  JobIndex job;
  Seconds as_of = 0;
  Verdict verdict = Verdict::kWaiting;
  std::vector<Blocker> blockers = {};  ///< the dominant one first; none unless it waits
  Ahead ahead = {};
  std::vector<Change> changes = {};
};

/// The state of a run behind the decisions of a second. Requires: at >= 0.
[[nodiscard]] Explanation explain(const Workload& workload, const Terms& terms, Policy policy, JobIndex job, Seconds at);

/// Whether a job would start at a second if this had been so then, all before it unchanged: for those who doubt.
[[nodiscard]] bool would_start(const Workload& workload, const Terms& terms, Policy policy, JobIndex job, Seconds at,
                               const Change& change);

}  // namespace berth::sched
