#include "scheduling/jobs/start_estimates.h"

#include <gtest/gtest.h>

#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

using testing::workload_of;

std::vector<StartEstimate> estimates_of(const Workload& workload, Policy policy) {
  std::vector<StartEstimate> all;
  StartEstimates estimates(workload, policy);
  RunListener listener;
  listener.passed = [&](const Simulation& simulation) {
    for (const StartEstimate& one : estimates.passed(simulation)) all.push_back(one);
  };
  EXPECT_TRUE(run_policy(workload, {}, policy, listener).has_value());
  return all;
}

TEST(Projection, StartsJobsInOrderAsSoonAsEnoughIsFree) {
  Projection projection;
  projection.reset(10, 1);
  projection.add_end(30, 1);
  projection.add_end(20, 2);
  EXPECT_EQ(projection.place(1, 5), 10) << "fits at once, until 15";
  EXPECT_EQ(projection.place(3, 100), 20);
  EXPECT_EQ(projection.place(1, 1), 30) << "not before the one ahead of it";
}

TEST(StartEstimates, AreExactInAQueueWithExactEstimates) {
  const Workload workload = workload_of({{.gpus = 2, .duration_s = 100, .estimate_s = 100},
                                         {.submit_s = 10, .gpus = 2, .duration_s = 50, .estimate_s = 50},
                                         {.submit_s = 20, .gpus = 1, .duration_s = 30, .estimate_s = 30}},
                                        2);
  const std::vector<StartEstimate> all = estimates_of(workload, Policy::kFifo);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].p50, 0);
  EXPECT_EQ(all[0].p90, 0) << "starts at once";
  EXPECT_EQ(all[1].p50, 100);
  EXPECT_EQ(all[1].p90, 100);
  EXPECT_EQ(all[2].p50, 150);
  EXPECT_EQ(all[2].p90, 150);
}

TEST(StartEstimates, OneInTenOfCertainStartsIsPromisedASecondEarly) {
  std::vector<ListedJob> jobs;
  jobs.reserve(31);
  for (int i = 0; i < 31; ++i) {
    jobs.push_back({.name = std::to_string(i), .submit_s = i, .gpus = 1, .duration_s = 100, .estimate_s = 100});
  }
  int early = 0;
  for (const StartEstimate& one : estimates_of(workload_of(jobs, 1), Policy::kFifo)) {
    const Seconds start = 100 * static_cast<Seconds>(one.job);
    if (one.p90 == start - 1) ++early;
    EXPECT_TRUE(one.p90 == start || one.p90 == start - 1);
  }
  EXPECT_EQ(early, 3);
}

TEST(StartEstimates, AreMadeForThreePolicies) {
  int count = 0;
  for (const Policy policy : kPolicies) count += has_start_estimates(policy) ? 1 : 0;
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace berth::sched
