#include "planner/plan/first_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/core/test_cases.h"
#include "planner/many_gpus/testing/fleets.h"
#include "planner/plan/solve.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

constexpr SearchLimits kFirstLimits{.nodes_max = 2'000, .gap = 0.003};

/// A window that begins with an empty fleet.
Problem empty_window(std::uint64_t seed) {
  Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 60, 0);
  for (GpuTerms& gpu : problem.gpus) gpu.standing.clear();
  for (ServiceTerms& service : problem.services) {
    if (!service.retraining) continue;
    service.retraining->is_stale = false;
    service.retraining->fresh_in = 0;
    service.retraining->progress = 0;
    service.retraining->due_slots = {SlotIndex(5)};
  }
  return problem;
}

double worth_with(const Problem& window, const Answer& layout) {
  Problem begun = window;
  for (const GpuIndex gpu : indices_of<GpuIndex>(begun.gpus)) {
    if (layout.schedule.gpus[gpu].empty()) continue;
    for (const Piece& piece : layout.schedule.gpus[gpu].front().to) begun.gpus[gpu].standing.push_back({piece, 0});
  }
  return solve(begun, kFirstLimits).objective;
}

TEST(FirstLayout, IsBuiltAtOnceForNothingAndStays) {
  Problem window = empty_window(3);
  window.change_price = 5;
  const Problem first = first_layout_problem(window);
  EXPECT_EQ(first.create_seconds + first.destroy_seconds + first.plumbing_seconds + first.change_price, 0);
  EXPECT_EQ(first.is_frozen.front(), 0);
  EXPECT_EQ(std::ranges::count(first.is_frozen, 0), 1);
  for (const ServiceTerms& service : first.services) {
    EXPECT_FALSE(service.retraining);
    EXPECT_EQ(service.start_seconds, 0);
  }
}

TEST(FirstLayout, BetteringNeverLosesAndStaysSound) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Problem first = first_layout_problem(empty_window(seed));
    Answer answer = solve(first, kFirstLimits);
    const double before = answer.objective;
    improve_first_layout(first, kFirstLimits, answer);
    EXPECT_GE(answer.objective, before);
    EXPECT_LE(answer.objective, answer.bound * (1 + 1e-9));
    EXPECT_EQ(find_fault(first, answer.schedule).value_or(""), "");
    EXPECT_NEAR(evaluate(first, answer.schedule).objective, answer.objective, 1e-7 * answer.objective);
  }
}

TEST(FirstLayout, RoomIsLeftWhereTheWindowGainsByIt) {
  constexpr int kSeeds = berth::testing::by_build(12, 3);
  int better = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem window = empty_window(seed);
    const Problem first = first_layout_problem(window);
    Answer answer = solve(first, kFirstLimits);
    improve_first_layout(first, kFirstLimits, answer);
    const double before = worth_with(window, answer);
    const double served_before = answer.objective;
    leave_room_for_retraining(window, first, kFirstLimits, answer);
    EXPECT_GE(worth_with(window, answer), before);
    EXPECT_EQ(find_fault(first, answer.schedule).value_or(""), "");
    EXPECT_NEAR(evaluate(first, answer.schedule).objective, answer.objective, 1e-7 * answer.objective);
    if (worth_with(window, answer) > before) {
      ++better;
      EXPECT_NE(answer.objective, served_before);
    }
  }
  EXPECT_GT(better, 0);
}

TEST(FirstLayout, NothingIsLeftFreeWhereNothingRetrains) {
  Problem window = empty_window(2);
  for (ServiceTerms& service : window.services) service.retraining.reset();
  const Problem first = first_layout_problem(window);
  Answer answer = solve(first, kFirstLimits);
  const Schedule before = answer.schedule;
  const std::int64_t nodes = answer.nodes;
  leave_room_for_retraining(window, first, kFirstLimits, answer);
  EXPECT_EQ(answer.nodes, nodes);
  for (const GpuIndex gpu : indices_of<GpuIndex>(before.gpus)) {
    ASSERT_EQ(answer.schedule.gpus[gpu].size(), before.gpus[gpu].size());
    for (std::size_t i = 0; i < before.gpus[gpu].size(); ++i) {
      EXPECT_EQ(answer.schedule.gpus[gpu][i].to, before.gpus[gpu][i].to);
    }
  }
}

/// A fleet with more GPUs than a plan has nodes, all empty. `load` is a share of what large_fleet draws.
Problem empty_large_fleet(int gpus, double load) {
  Problem problem = testing::large_fleet(Rng(7), gpus, 4);
  for (GpuTerms& gpu : problem.gpus) gpu.standing.clear();
  for (ServiceTerms& service : problem.services) {
    service.floor_rate = 0;
    for (double& each : service.loads) each *= load;
  }
  return first_layout_problem(problem);
}

/// With at least as many GPUs as nodes, the first placement used up all nodes; at prices of 0 it places nothing.
TEST(FirstLayout, MoreGpusThanNodesAreUsedAsWell) {
  for (const double load : {0.2, 1.0}) {
    SCOPED_TRACE(load);
    const Problem first = empty_large_fleet(3'100, load);
    const Answer answer = solve(first, {.nodes_max = 3'000, .gap = 0.003});
    EXPECT_GE(answer.objective, 0.97 * answer.bound);
  }
}

/// A trust domain is a group of services that share no GPU with others: each group has its own nodes.
TEST(FirstLayout, ManyTrustDomainsTakeNoNodesFromEachOther) {
  Problem first = empty_large_fleet(800, 0.2);
  for (const ServiceIndex i : indices_of<ServiceIndex>(first.services))
    first.services[i].trust_domain = static_cast<int>(i);
  const Answer answer = solve(first, {.nodes_max = 3'000, .gap = 0.003});
  EXPECT_GE(answer.objective, 0.97 * answer.bound);
}

}  // namespace
}  // namespace berth::planner
