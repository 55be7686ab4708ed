// Random job lists and trees: one estimate for each job at its submit, in order, which does not depend on later events.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "scheduling/jobs/start_estimates.h"
#include "scheduling/jobs/study.h"
#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

struct Made {
  std::vector<StartEstimate> estimates = {};
  std::vector<Seconds> made_at = {};
  std::vector<Seconds> starts = {};  ///< by job
};

Made made_by(const Workload& workload, Policy policy) {
  Made made;
  made.starts.resize(workload.jobs.size());
  StartEstimates estimates(workload, policy);
  RunListener listener;
  listener.passed = [&](const Simulation& simulation) {
    const World& world = simulation.world();
    for (const StartEstimate& one : estimates.passed(simulation)) {
      made.estimates.push_back(one);
      made.made_at.push_back(world.now());
    }
    for (const JobIndex job : simulation.waiting()) {
      StartEstimates asked = estimates;
      const StartEstimate now = asked.of_waiting(simulation, job);
      RC_ASSERT(world.now() <= now.p50);
      RC_ASSERT(now.p50 <= now.p90);
    }
    for (const LogEntry& entry : simulation.log()) {
      if (entry.type == LogType::kStart)
        made.starts[static_cast<std::size_t>(entry.job)] = *world.record(entry.job).first_start;
    }
  };
  RC_ASSERT(run_policy(workload, {}, policy, listener).has_value());
  return made;
}

RC_GTEST_PROP(StartEstimates, OneForEachJobAtItsSubmit, (std::uint64_t seed)) {
  const Workload workload = testing::random_workload(Rng(seed));
  for (const Policy policy : kPolicies) {
    if (!has_start_estimates(policy)) continue;
    const Made made = made_by(workload, policy);
    RC_ASSERT(made.estimates.size() == workload.jobs.size());
    std::optional<std::pair<Seconds, JobIndex>> last;
    for (std::size_t i = 0; i < made.estimates.size(); ++i) {
      const StartEstimate& one = made.estimates[i];
      const std::pair at(workload.job(one.job).submit, one.job);
      RC_ASSERT(!last || *last < at);
      last = at;
      RC_ASSERT(made.made_at[i] == at.first);
      RC_ASSERT(at.first <= one.p50);
      RC_ASSERT(one.p50 <= one.p90);
      if (made.starts[static_cast<std::size_t>(one.job)] == at.first) RC_ASSERT(one.p90 == at.first);
    }
  }
}

RC_GTEST_PROP(StartEstimates, DoNotKnowDurations, (std::uint64_t seed)) {
  // The runs are equal until a job finishes that is longer in one of the two workloads.
  const Workload workload = testing::random_workload(Rng(seed));
  Workload longer = workload;
  Seconds first_end = workload.jobs.front().submit + workload.jobs.front().duration;
  for (const Job& job : workload.jobs) first_end = std::min(first_end, job.submit + job.duration);
  for (Job& job : longer.jobs) job.duration *= 2;
  for (const Policy policy : kPolicies) {
    if (!has_start_estimates(policy)) continue;
    const Made made = made_by(workload, policy);
    const Made other = made_by(longer, policy);
    for (std::size_t i = 0; i < made.estimates.size() && made.made_at[i] < first_end; ++i) {
      RC_ASSERT(made.estimates[i].job == other.estimates[i].job);
      RC_ASSERT(made.estimates[i].p50 == other.estimates[i].p50);
      RC_ASSERT(made.estimates[i].p90 == other.estimates[i].p90);
    }
  }
}

}  // namespace
}  // namespace berth::sched
