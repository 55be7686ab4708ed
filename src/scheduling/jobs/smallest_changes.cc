#include "scheduling/jobs/smallest_changes.h"

#include <algorithm>
#include <utility>

#include "scheduling/jobs/moment.h"
#include "scheduling/jobs/victim_search.h"

namespace berth::sched {
namespace {

/// The priority increases to try: to equal each job of higher priority, or to pass it.
std::vector<std::int64_t> priority_steps(const World& world, JobIndex job) {
  const Workload& workload = world.workload();
  const std::int64_t own = workload.job(job).priority;
  std::vector<std::int64_t> steps = {1};
  for (const JobIndex other : indices_of<JobIndex>(workload.jobs)) {
    const JobState state = world.record(other).state;
    if (state != JobState::kWaiting && state != JobState::kRunning) continue;
    const std::int64_t above = workload.job(other).priority - own;
    if (above > 0) steps.push_back(above);
    if (above >= 0) steps.push_back(above + 1);
  }
  std::ranges::sort(steps);
  const auto repeated = std::ranges::unique(steps);
  steps.erase(repeated.begin(), repeated.end());
  return steps;
}

}  // namespace

std::vector<Change> smallest_changes(const Moment& moment, JobIndex job) {
  const World& world = moment.before.world();
  const Workload& workload = world.workload();
  WhatIf what_if(moment, job);
  const Policy policy = moment.before.name();
  std::vector<Change> changes;
  if (!moment.before.is_decision_instant()) return changes;
  const auto add = [&](std::optional<Change> change) {
    if (change) changes.push_back(std::move(*change));
  };
  const std::int64_t most = std::max<std::int64_t>(1, world.asked_gpus());
  const bool never_preempts = !decides_in_rounds(policy) && policy != Policy::kBerth;
  const GpuCount missing = never_preempts ? std::max<GpuCount>(1, workload.job(job).gpus - world.free_gpus()) : 1;
  add(what_if.least({.kind = ChangeKind::kGpus, .where = "pool"}, missing, most));
  if (obeys_limits(policy)) {
    for_each_ancestor(workload, workload.job(job).tenant, [&](TenantIndex at) {
      const Tenant& tenant = workload.tenant(at);
      if (tenant.limit) add(what_if.least({.kind = ChangeKind::kLimit, .where = tenant.name}, 1, most));
    });
  }
  add(what_if.least_of({.kind = ChangeKind::kPriority, .where = workload.job_names[static_cast<std::size_t>(job)]},
                       priority_steps(world, job)));
  if (!decides_in_rounds(policy)) add(fewest_to_preempt(moment, job));
  return changes;
}

}  // namespace berth::sched
