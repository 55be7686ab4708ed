#include "planner/window/carry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/test_cases.h"
#include "planner/plan/solve.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

bool changes_something(const Schedule& schedule) {
  return std::ranges::any_of(schedule.gpus, [](const auto& changes) { return !changes.empty(); });
}

/// The problem some slots later, where nothing of the plan has begun: the same but shorter.
Problem later(const Problem& problem, int slots) {
  Problem rest = problem;
  rest.slots -= slots;
  rest.is_frozen.clear();
  rest.floors_from = SlotIndex(0);
  for (GpuTerms& gpu : rest.gpus) {
    gpu.free_from = std::max(SlotIndex(0), gpu.free_from - slots);
    for (StandingPiece& standing : gpu.standing) standing.ready_in = std::max(0, standing.ready_in - slots);
  }
  for (ServiceTerms& service : rest.services) {
    service.loads.erase(service.loads.begin(), service.loads.begin() + std::ptrdiff_t{slots} * rest.samples);
    service.floor_rate = 0;
    service.outside.clear();
    service.outside_progress.clear();
    service.retraining.reset();
  }
  return rest;
}

TEST(Carry, WhatIsLeftHasNoFaultAndASearchThatBeginsWithItIsNoWorse) {
  constexpr int kSeeds = berth::testing::by_build(40, 10);
  int carried = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 30, 10);
    const Answer first = solve(problem, {.nodes_max = 2000});
    if (first.is_infeasible || first.misses_floors) continue;
    for (const int slots : {0, 1, 5}) {
      const Problem now = later(problem, slots);
      const Schedule known = carried_over(now, first.schedule, slots);
      if (known.gpus.empty()) continue;
      carried += changes_something(known) ? 1 : 0;
      ASSERT_EQ(find_fault(now, known).value_or(""), "");
      const double value = evaluate(now, known).objective;
      const Answer answer = solve(now, {.nodes_max = 500}, known);
      EXPECT_EQ(find_fault(now, answer.schedule).value_or(""), "");
      EXPECT_GE(answer.objective, value - 1e-6 * (1 + std::abs(value)));
      EXPECT_GE(answer.bound, answer.objective);
    }
  }
  EXPECT_GT(carried, kSeeds / 4);
}

TEST(Carry, TheSameMomentKeepsTheWholePlan) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = testing::fleet_problem(Rng(seed), 1, 3, 20, 0);
    const Answer first = solve(problem, {.nodes_max = 2000});
    if (first.is_infeasible || first.misses_floors || !changes_something(first.schedule)) continue;
    const Schedule known = carried_over(problem, first.schedule, 0);
    ASSERT_EQ(known.gpus.size(), 1);
    EXPECT_EQ(evaluate(problem, known).objective, evaluate(problem, first.schedule).objective);
  }
}

TEST(Carry, OfAnotherFleetNothingIsLeft) {
  const Problem problem = testing::fleet_problem(Rng(1), 3, 4, 30, 10);
  EXPECT_TRUE(carried_over(problem, {.gpus = {{}, {}}}, 3).gpus.empty());
  EXPECT_TRUE(carried_over(problem, {.gpus = {{}, {}, {}}}, 3).gpus.empty());
}

}  // namespace
}  // namespace berth::planner
