#include "scheduling/placement/course.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduling/placement/study.h"
#include "scheduling/placement/study_record.h"
#include "scheduling/placement/testing/small_lists.h"

namespace berth::placement {
namespace {

using ::testing::ElementsAre;

TEST(RoundedPercent, IsExactForAnyDemand) {
  EXPECT_EQ(rounded_percent(0, 8'000), 0);
  EXPECT_EQ(rounded_percent(39, 8'000), 0);
  EXPECT_EQ(rounded_percent(40, 8'000), 1);
  EXPECT_EQ(rounded_percent(10'440, 8'000), 131);
  EXPECT_EQ(rounded_percent(1'000'000'000'000'000'000, 8'000), 12'500'000'000'000'000);
}

TEST(RunCourse, AColumnIsTheMeanOfItsArrivalsOrWhatTheLastOneLeft) {
  RunCourse course(demand_axis(100), 1000);
  course.add({.arrivals = 1, .demand_milli = 10, .used_milli = 10});
  course.add({.arrivals = 2, .demand_milli = 12, .used_milli = 20});
  course.add({.arrivals = 4, .batch = 2, .demand_milli = 30, .used_milli = 40});
  EXPECT_THAT(course.finish(), ElementsAre(0, 1.5, 2, 4));
}

TEST(RunCourse, WideDemandsShareColumns) {
  const CourseAxis axis = demand_axis(1'000);
  EXPECT_EQ(axis.percent_per_column, 3);
  EXPECT_LE(1'000 / axis.percent_per_column, kCourseColumnsMax);
  EXPECT_EQ(demand_axis(399).percent_per_column, 1);
}

TEST(RunCourse, WithDeparturesColumnsArePartsOfAMeanStay) {
  RunCourse course({.is_churning = true, .mean_stay = 100}, 1000);
  for (std::int64_t arrival = 1; arrival <= 4; ++arrival) course.add({.arrivals = arrival, .used_milli = 10 * arrival});
  EXPECT_THAT(course.finish(), ElementsAre(1.5, 3.5));
}

TEST(CourseBand, ARunThatEndsEarlierKeepsItsLastValue) {
  CourseBand band;
  band.add({1, 2});
  band.add({3, 4, 8});
  band.add({2});
  ASSERT_EQ(band.columns(), 3U);
  EXPECT_DOUBLE_EQ(band.mean(2), (2 + 8 + 2) / 3.0);
  EXPECT_DOUBLE_EQ(band.least(2), 2);
  EXPECT_DOUBLE_EQ(band.most(1), 4);
}

/// A study with its record.
struct Recorded {
  std::vector<PolicyResult> results;
  StudyRecord record;
};
Recorded recorded(const Problem& problem, const StudyOptions& options) {
  StudyRecorder recorder(problem, options);
  const auto results = run_study(problem, options, std::vector{Policy::kFgd, Policy::kBerth},
                                 [&](Policy policy, std::optional<std::uint64_t>, const Arrivals& arrivals) {
                                   RunListener listener;
                                   recorder.listen(policy, arrivals, listener);
                                   return listener;
                                 });
  return {.results = results->value(), .record = recorder.record()};
}

Problem mixed_problem() {
  std::vector<testing::PodSketch> pods;
  pods.reserve(60);
  for (int i = 0; i < 60; ++i) {
    pods.push_back({.gpus = i % 5 == 0 ? 2 : 1, .milli = i % 5 == 0 ? 1000 : 100 + 50 * (i % 13)});
  }
  return testing::problem_of(std::vector<testing::NodeSketch>(50, {.gpus = 4}), pods);
}

TEST(StudyRecord, AgreesWithTheFigures) {
  const Problem problem = mixed_problem();
  const Recorded found = recorded(problem, {.seeds = {1}, .demand = Decimal(14, 10)});
  ASSERT_EQ(found.record.policies.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const PolicyRecord& policy = found.record.policies[i];
    EXPECT_EQ(policy.policy, found.results[i].policy);
    EXPECT_EQ(policy.course.runs(), 1);
    ASSERT_TRUE(found.results[i].allocated_at_100 && found.results[i].allocated_at_130);
    EXPECT_NEAR(policy.course.mean(100), found.results[i].allocated_at_100->mean, 1e-9);
    EXPECT_NEAR(policy.course.mean(130), found.results[i].allocated_at_130->mean, 1e-9);
    std::int64_t used = 0;
    for (const NodeEnd& node : policy.end.nodes) {
      for (const GpuEnd& gpu : node.gpus) used += gpu.used_milli;
    }
    EXPECT_EQ(used + policy.idle.idle_milli, problem.capacity_milli());
  }
}

TEST(StudyRecord, SumsOverTheSeedsAndKeepsTheEndOfTheFirst) {
  const Problem problem = mixed_problem();
  const StudyOptions one{.seeds = {1}, .demand = Decimal(13, 10)};
  const StudyOptions other{.seeds = {2}, .demand = Decimal(13, 10)};
  const StudyOptions both{.seeds = {1, 2}, .demand = Decimal(13, 10)};
  const PolicyRecord found = recorded(problem, both).record.policies[1];
  IdleCapacity sum = recorded(problem, one).record.policies[1].idle;
  sum += recorded(problem, other).record.policies[1].idle;
  EXPECT_EQ(found.idle.milli_rows, sum.milli_rows);
  EXPECT_EQ(found.end.by_model, recorded(problem, one).record.policies[1].end.by_model);
  EXPECT_EQ(found.course.runs(), 2);
}

TEST(StudyRecord, WithDeparturesCountsInMeanStays) {
  const Problem problem = mixed_problem();
  const Recorded found = recorded(problem, {.order = ArrivalOrder::kChurn, .seeds = {3}, .demand = Decimal(1)});
  EXPECT_TRUE(found.record.axis.is_churning);
  EXPECT_NEAR(found.record.measured_from, 2, 0.02);
  EXPECT_NEAR(static_cast<double>(found.record.policies[0].course.columns()), 5.0 * kColumnsPerStay, 2);
}

TEST(ClusterEnd, CountsGpusByUse) {
  EXPECT_EQ(use_level(0), 0U);
  EXPECT_EQ(use_level(1), 1U);
  EXPECT_EQ(use_level(500), 1U);
  EXPECT_EQ(use_level(501), 2U);
  EXPECT_EQ(use_level(750), 2U);
  EXPECT_EQ(use_level(900), 3U);
  EXPECT_EQ(use_level(999), 4U);
  EXPECT_EQ(use_level(1000), 5U);
}

}  // namespace
}  // namespace berth::placement
