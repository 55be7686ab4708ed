#include "scheduling/jobs/durations.h"

#include <gtest/gtest.h>

#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

TEST(Durations, BinsAreEightPerDoubling) {
  EXPECT_EQ(Durations::bin_of(0), 0U);
  EXPECT_EQ(Durations::bin_of(1), 0U);
  EXPECT_EQ(Durations::bin_of(2), 8U);
  EXPECT_EQ(Durations::bin_of(3), 12U);
  EXPECT_EQ(Durations::bin_of(1023), 79U);
  EXPECT_EQ(Durations::bin_of(1024), 80U);
  EXPECT_EQ(Durations::bin_of(1'000'000'000), Durations::kBins - 1);
}

/// A workload of one tenant in which jobs have finished one after the other.
class Learning : public ::testing::Test {
 protected:
  static Workload jobs_of(const std::vector<Seconds>& durations) {
    std::vector<ListedJob> jobs;
    jobs.reserve(durations.size());
    for (const Seconds duration : durations)
      jobs.push_back({.name = "j" + std::to_string(jobs.size()), .duration_s = duration});
    return testing::workload_of(jobs, 1);
  }
};

TEST_F(Learning, AJobIsExpectedToRunAsThoseOfItsTenantAndSize) {
  std::vector<Seconds> durations(200, 100);
  durations.push_back(1);
  const Workload workload = jobs_of(durations);
  Durations learned;
  World world(workload, {});
  const JobIndex last(200);
  for (const JobIndex job : Indices<JobIndex>(201)) learned.submitted(workload, job);
  const Remaining unknown = learned.remaining(world, last);
  for (const JobIndex job : Indices<JobIndex>(200)) learned.finished(workload, job);
  const Remaining known = learned.remaining(world, last);
  // 100 s lie in the bin from 96 to 104 s.
  EXPECT_NEAR(static_cast<double>(known.median), 100, 10);
  EXPECT_NEAR(known.cost, 100, 25);
  EXPECT_NE(unknown.median, known.median);
}

TEST_F(Learning, WhoHasOutlivedMostIsExpectedToRunLong) {
  // Nine of ten end after 10 s, the tenth runs 10,000 s.
  std::vector<Seconds> durations;
  durations.reserve(301);
  for (int i = 0; i < 300; ++i) durations.push_back(i % 10 == 9 ? 10'000 : 10);
  durations.push_back(20'000);
  const Workload workload = jobs_of(durations);
  Durations learned;
  for (const JobIndex job : Indices<JobIndex>(301)) learned.submitted(workload, job);
  for (const JobIndex job : Indices<JobIndex>(300)) learned.finished(workload, job);
  World world(workload, {});
  const JobIndex last(300);
  const double fresh = learned.remaining(world, last).cost;
  world.submit(last);
  world.start(last);
  world.advance(1'000);
  EXPECT_LT(fresh, 50);
  EXPECT_GT(learned.remaining(world, last).cost, 1'000);
}

}  // namespace
}  // namespace berth::sched
