/// The figures of a policy, when all jobs have finished.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/int128.h"
#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/world.h"

namespace berth::sched {

/// Statistics over all jobs, in seconds; percentiles by nearest rank.
struct Spread {
  Int128 sum = 0;
  double mean = 0;
  Seconds p50 = 0;
  Seconds p99 = 0;
  Seconds max = 0;
};

struct TenantFigures {
  std::string tenant;
  std::int64_t jobs = 0;
  Int128 gpu_seconds = 0;           ///< held
  double completion_mean = 0;       ///< seconds
  Int128 gpu_seconds_borrowed = 0;  ///< the part of them above the guarantee
};

struct PolicyFigures {
  Policy policy = Policy::kBerth;
  Spread completion = {};  ///< from submit to finish
  Spread wait = {};        ///< from submit to the first start
  double slowdown_mean = 0;
  double slowdown_p99 = 0;
  double rho_worst = 0;  ///< finish-time fairness: completion compared with that on an equal share of the pool
  Seconds makespan = 0;
  double utilisation = 0;  ///< work / (GPUs x makespan)
  std::int64_t preemptions = 0;
  Int128 restart_gpu_seconds = 0;
  std::int64_t deadlines_missed = 0;
  std::vector<TenantFigures> tenants = {};  ///< those with jobs, by name
};

/// Requires: every job has finished.
[[nodiscard]] PolicyFigures figures_of(Policy policy, const World& world);

/// Completion / max(duration, 60 s), at least 1; and finish-time fairness, the same divided by how crowded the pool was
/// while the job was in it. Source of the latter: Mahajan et al., "Themis", NSDI 2020; Zheng et al., "Shockwave", NSDI
/// 2023. Require: the job has finished.
[[nodiscard]] double slowdown_of(const World& world, JobIndex job);
[[nodiscard]] double rho_of(const World& world, JobIndex job);

}  // namespace berth::sched
