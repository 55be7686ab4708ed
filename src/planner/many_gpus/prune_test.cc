#include "planner/many_gpus/prune.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/many_gpus/fleet.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

/// The gain of a GPU's changes given all others; nothing if the schedule needs them.
std::optional<double> gain_of(const Problem& problem, const Schedule& schedule, GpuIndex gpu) {
  Schedule without = schedule;
  without.gpus[gpu].clear();
  if (find_fault(problem, without)) return std::nullopt;
  return evaluate(problem, schedule).objective - evaluate(problem, without).objective;
}

bool changes_now(const Schedule& schedule, GpuIndex gpu) {
  return !schedule.gpus[gpu].empty() && schedule.gpus[gpu].front().slot == 0;
}

TEST(Prune, WhatIsLeftPays) {
  int left_out = 0;
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 30, 10);
    problem.change_price = 0;
    Answer before = solve_fleet(problem, {.nodes_max = 2000, .gap = 0});
    if (before.is_infeasible || before.misses_floors) continue;
    // As if planned for a smaller price: some changes are not worthwhile at this one.
    problem.change_price = 0.04 * std::abs(before.objective);
    before.objective = evaluate(problem, before.schedule).objective;
    const Pruned pruned = without_low_value_changes(problem, before);
    const Answer& after = pruned.answer;
    SCOPED_TRACE(seed);
    ASSERT_EQ(find_fault(problem, after.schedule).value_or(""), "");
    ASSERT_NEAR(after.objective, evaluate(problem, after.schedule).objective, 1e-9 * (1 + std::abs(after.objective)));
    EXPECT_EQ(after.bound, before.bound);
    for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
      if (!changes_now(before.schedule, gpu)) continue;
      if (!changes_now(after.schedule, gpu)) {
        ++left_out;
        EXPECT_TRUE(after.schedule.gpus[gpu].empty());
        continue;
      }
      ++kept;
      const auto gain = gain_of(problem, after.schedule, gpu);
      if (!gain) continue;
      EXPECT_NEAR(*gain, pruned.gains[gpu], 1e-6 * (1 + std::abs(after.objective)));
      EXPECT_GE(*gain, -1e-6 * (1 + std::abs(after.objective)));
    }
  }
  EXPECT_GT(left_out, 5);
  EXPECT_GT(kept, 5);
}

}  // namespace
}  // namespace berth::planner
