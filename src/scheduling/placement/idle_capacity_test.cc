#include "scheduling/placement/idle_capacity.h"

#include <gtest/gtest.h>

#include <numeric>

#include "scheduling/placement/run.h"
#include "scheduling/placement/testing/small_lists.h"

namespace berth::placement {
namespace {

using testing::problem_of;

/// The idle capacity once `berth` has placed the first `placed` pods of the list.
struct Found {
  IdleCapacity idle;
  UsableByNode usable;
};
Found idle_behind(const Problem& problem, std::size_t placed) {
  Arrivals arrivals = given_arrivals(problem);
  arrivals.rows.resize(placed);
  arrivals.batches.assign(placed, {});
  Found found;
  const RunListener listener{
      .ended = [&](Cluster& cluster) { found.idle = idle_capacity(cluster, asked_rows(problem), &found.usable); }};
  EXPECT_TRUE(run_placement(problem, arrivals, {.policy = Policy::kBerth}, listener).has_value());
  return found;
}

void expect_adds_up(const IdleCapacity& idle) {
  EXPECT_EQ(std::accumulate(idle.milli_rows.begin(), idle.milli_rows.end(), std::int64_t{0}),
            idle.idle_milli * idle.rows);
}

TEST(IdleCapacity, OfAnEmptyClusterIsUsable) {
  const Problem problem = problem_of({{.gpus = 2}}, {{.milli = 300}, {.gpus = 2}, {.gpus = 0}});
  const Found found = idle_behind(problem, 0);
  EXPECT_EQ(found.idle.idle_milli, 2000);
  EXPECT_EQ(found.idle.rows, 2);  // the pod without GPUs does not count
  EXPECT_EQ(found.idle.of(IdleCause::kUsable), 4000);
  EXPECT_EQ(found.usable, UsableByNode{4000});
  expect_adds_up(found.idle);
}

TEST(IdleCapacity, RestsAreThoseTooSmallForThePod) {
  const Problem problem = problem_of({{.gpus = 1}}, {{.milli = 700}, {.milli = 300}, {.milli = 301}, {}});
  const Found found = idle_behind(problem, 1);
  EXPECT_EQ(found.idle.idle_milli, 300);
  EXPECT_EQ(found.idle.of(IdleCause::kUsable), 300);
  EXPECT_EQ(found.idle.of(IdleCause::kRest2), 900);  // 250 to 499 milli
  expect_adds_up(found.idle);
}

TEST(IdleCapacity, RestsAreDividedBySize) {
  EXPECT_EQ(rest_size(1), 0);
  EXPECT_EQ(rest_size(99), 0);
  EXPECT_EQ(rest_size(100), 1);
  EXPECT_EQ(rest_size(249), 1);
  EXPECT_EQ(rest_size(250), 2);
  EXPECT_EQ(rest_size(499), 2);
  EXPECT_EQ(rest_size(500), 3);
  EXPECT_EQ(rest_size(999), 3);
}

TEST(IdleCapacity, TooFewGpusCountWithoutTheRestsBesideThem) {
  const Problem problem = problem_of({{.gpus = 3}}, {{.milli = 400}, {.gpus = 3}});
  const Found found = idle_behind(problem, 1);
  EXPECT_EQ(found.idle.idle_milli, 2600);
  EXPECT_EQ(found.idle.of(IdleCause::kGpus), 2000);
  EXPECT_EQ(found.idle.of(IdleCause::kRest3), 600);
  EXPECT_EQ(found.idle.of(IdleCause::kUsable), 2600);
  expect_adds_up(found.idle);
}

TEST(IdleCapacity, CpuIsACauseWhereTheGpusWouldDo) {
  const Problem problem =
      problem_of({{.gpus = 2, .cpu_per_gpu = 1'000}}, {{.milli = 400, .cpu = 1'500}, {.milli = 700}});
  const Found found = idle_behind(problem, 1);
  EXPECT_EQ(found.idle.of(IdleCause::kCpu), 1600 + 1000);  // 500 CPU milli are free
  EXPECT_EQ(found.idle.of(IdleCause::kRest3), 600);
  EXPECT_EQ(found.usable, UsableByNode{0});
  expect_adds_up(found.idle);
}

TEST(IdleCapacity, MemoryIsACauseWhereGpusAndCpuWouldDo) {
  auto nodes = testing::nodes_of({{}});
  nodes.front().memory_mib = 10;
  auto pods = testing::pods_of({{.milli = 400}, {.milli = 200}});
  pods.front().memory_mib = 10;
  const Problem problem = *make_problem(nodes, pods, {});
  const Found found = idle_behind(problem, 1);
  EXPECT_EQ(found.idle.of(IdleCause::kMemory), 1200);
  expect_adds_up(found.idle);
}

TEST(IdleCapacity, AWrongModelIsTheCauseOfAWholeNode) {
  const Problem problem = problem_of({{.model = "T4"}, {.model = "P100"}}, {{.milli = 100, .spec = "P100"}});
  const Found found = idle_behind(problem, 0);
  EXPECT_EQ(found.idle.of(IdleCause::kModel), 1000);
  EXPECT_EQ(found.idle.of(IdleCause::kUsable), 1000);
  expect_adds_up(found.idle);
}

TEST(IdleCapacity, AGangThatDoesNotFitAsAWholeKeepsItsPods) {
  const Problem problem = problem_of({{.gpus = 2}}, {{}, {.gang = "g"}, {.gang = "g"}, {.gang = "h"}});
  const Found found = idle_behind(problem, 1);
  EXPECT_EQ(found.idle.of(IdleCause::kGang), 2000);    // both pods of g, alone, fit on the second GPU
  EXPECT_EQ(found.idle.of(IdleCause::kUsable), 2000);  // the first pod again, and h
  EXPECT_EQ(found.usable, UsableByNode{4000});
  expect_adds_up(found.idle);
}

TEST(IdleCapacity, OfSlicesCountsUnitsAndStarts) {
  // 1g.10gb takes the first of 8 units: 3g.40gb has its other start; 7g.80gb and 4g.40gb (start 0) do not fit.
  const Problem problem = problem_of({{.model = "A100-80GB"}}, {{.milli = 0, .slices = {{1, "1g.10gb"}}},
                                                                {.milli = 0, .slices = {{1, "3g.40gb"}}},
                                                                {.milli = 0, .slices = {{1, "4g.40gb"}}},
                                                                {.milli = 0, .slices = {{1, "7g.80gb"}}},
                                                                {.milli = 0, .slices = {{1, "1g.6gb"}}}});
  Found found;
  const RunListener listener{
      .ended = [&](Cluster& cluster) { found.idle = idle_capacity(cluster, asked_rows(problem), &found.usable); }};
  Arrivals arrivals = given_arrivals(problem);
  arrivals.rows.resize(1);
  arrivals.batches.resize(1);
  EXPECT_TRUE(run_placement(problem, arrivals, {.policy = Policy::kFirst}, listener).has_value());
  EXPECT_EQ(found.idle.idle_milli, 875);
  EXPECT_EQ(found.idle.of(IdleCause::kUsable), 2 * 875);
  EXPECT_EQ(found.idle.of(IdleCause::kStart), 875);
  EXPECT_EQ(found.idle.of(IdleCause::kRest3), 875);
  EXPECT_EQ(found.idle.of(IdleCause::kModel), 875);
  expect_adds_up(found.idle);
}

TEST(IdleCapacity, ALargeListIsAskedByItsMostFrequentShapes) {
  std::vector<testing::PodSketch> pods;
  pods.reserve(901);
  for (int cpu = 0; cpu < 900; ++cpu) pods.push_back({.cpu = cpu});
  pods.push_back({.cpu = 5});
  std::vector<testing::NodeSketch> nodes(5'000);
  const AskedRows asked = asked_rows(problem_of(nodes, pods));
  EXPECT_EQ(asked.rows_with_gpus, 901);
  EXPECT_EQ(asked.shapes.size(), 800U);
  EXPECT_EQ(asked.rows, 801);
  EXPECT_EQ(asked.shapes.front(), ShapeIndex(5));
}

}  // namespace
}  // namespace berth::placement
