/// Why a job waits at a second, how long it probably still will, and what alone would make it start then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sched/moment.h"
#include "sched/what_if.h"

namespace berth::sched {

/// `kStartable`: nothing stands in its way, it starts when the policy decides next.
enum class Verdict : std::uint8_t { kNotSubmitted, kWaiting, kStartable, kRunning, kFinished };
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// What stands in the way of a start.
/// `kLimit`: the limit of a tenant or group. Needed: its GPUs, available: what is left below the limit.
/// `kOrder`: jobs that are served first, where the policy does not pass them or keeps what is free for them. Needed: the
/// GPUs that they and the job want together, available: those that are free; where: the first of them.
/// `kGuarantee`: what is free is kept for the guarantee of another tenant, which is due before the job could give it back.
/// Needed: its GPUs, available: 0; where: that tenant.
/// `kCapacity`: GPUs of the pool. Needed: its own, available: those that are free.
/// `kRound`: the policy decides at another second. Needed: that second, available: now.
enum class BlockerCode : std::uint8_t { kLimit, kOrder, kGuarantee, kCapacity, kRound };
[[nodiscard]] std::string_view name_of(BlockerCode code);

struct Blocker {
  BlockerCode code = BlockerCode::kCapacity;
  std::int64_t needed = 0;
  std::int64_t available = 0;
  std::string where = {};  ///< a tenant, a job, or "pool"
};

/// Who is served before a job.
struct Ahead {
  std::vector<JobIndex> jobs = {};  ///< that wait, in order
  GpuCount gpus = 0;                ///< that they want together
  double gpu_hours = 0;             ///< that they are expected to take
};

/// When a job probably starts, or did; seconds.
struct Eta {
  Seconds p50 = 0;
  Seconds p90 = 0;
  std::string method = {};
};

struct Explanation {
  JobIndex job;
  Policy policy = Policy::kBerth;
  Seconds as_of = 0;
  Verdict verdict = Verdict::kWaiting;
  std::string message = {};               ///< a sentence with the numbers
  std::vector<Blocker> blockers = {};     ///< the dominant one first; none unless it waits
  Ahead ahead = {};                       ///< of a job that waits
  std::optional<Eta> eta = std::nullopt;  ///< nothing before its submit
  std::vector<Change> changes = {};       ///< none unless it waits
};

/// The state behind the decisions of a second, and the changes at it. O(log) decisions of the policy.
[[nodiscard]] Explanation explain(const Moment& moment, JobIndex job);

}  // namespace berth::sched
