/// Why a job waits at a second, how long it probably still will, and which single changes would make it start then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/what_if.h"

namespace berth::sched {

class World;
struct Moment;

/// `kStartable`: it would start if the policy decided once more at this second, although nothing has happened at it.
/// Not under policies with rounds: between two rounds the job waits for the next (`kRound`).
enum class Verdict : std::uint8_t { kNotSubmitted, kWaiting, kStartable, kRunning, kFinished };
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// What blocks a start.
enum class BlockerCode : std::uint8_t {
  kLimit,      ///< of a tenant or group; needed: the job's GPUs, available: what is left below the limit
  kOrder,      ///< jobs served first, which would take more GPUs; needed: the GPUs of all, available: free ones
  kGuarantee,  ///< what is free is kept for that of another tenant; needed: the job's GPUs, available: 0. Or the job
               ///< may not be preempted, and with it that of another could not be met; available: World::fixed_room
  kCapacity,   ///< needed: the job's GPUs, available: free ones
  kRound,      ///< the policy decides at another second; needed: that one, available: now
};
[[nodiscard]] std::string_view name_of(BlockerCode code);

struct Blocker {
  BlockerCode code = BlockerCode::kCapacity;
  std::int64_t needed = 0;
  std::int64_t available = 0;
  std::string where = {};  ///< a tenant, the first of the jobs served first, or "pool"
};

/// The jobs served before a job.
struct Ahead {
  std::vector<JobIndex> jobs = {};  ///< waiting jobs, in order
  GpuCount gpus = 0;                ///< their GPUs in total
  double gpu_hours = 0;             ///< expected of them in total
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
  Ahead ahead = {};                       ///< if it waits
  std::optional<Eta> eta = std::nullopt;  ///< nothing before its submit, or if it takes too long to find out
  std::vector<Change> changes = {};       ///< none unless it waits
};

/// The state after the decisions of a second, and the changes at it. Costs about 300 decisions on copies of the moment
/// for each kind of change, up to 2,000 for jobs to preempt, and two runs into the future.
[[nodiscard]] Explanation explain(const Moment& moment, JobIndex job);

}  // namespace berth::sched
