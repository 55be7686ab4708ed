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

/// The schedule with the changes of a GPU in later slots, without those after the window.
Schedule postponed(const Problem& problem, Schedule schedule, GpuIndex gpu, int wait) {
  std::vector<Change> later;
  for (const Change& change : schedule.gpus[gpu]) {
    const SlotIndex slot(change.slot + wait);
    if (slot < problem.slots) later.push_back({.slot = slot, .to = change.to});
  }
  schedule.gpus[gpu] = std::move(later);
  return schedule;
}

TEST(Prune, ChangesThatNeedNotBeginNowWait) {
  constexpr int kWait = 5;
  int waits = 0;
  int begins = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 30, 10);
    const Answer found = solve_fleet(problem, {.nodes_max = 2000, .gap = 0});
    if (found.is_infeasible || found.misses_floors) continue;
    const Pruned before = without_low_value_changes(problem, found);
    const double loss_min = 0.01 * std::abs(before.answer.objective);
    const Pruned after = with_changes_postponed(problem, before, {.wait_slots = kWait, .loss_min = loss_min});
    ASSERT_EQ(find_fault(problem, after.answer.schedule).value_or(""), "");
    ASSERT_EQ(after.gains.size(), problem.gpus.size());
    const double rounding = 1e-6 * (1 + std::abs(after.answer.objective));
    EXPECT_NEAR(after.answer.objective, evaluate(problem, after.answer.schedule).objective, rounding);
    for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
      if (!changes_now(before.answer.schedule, gpu)) continue;
      if (!changes_now(after.answer.schedule, gpu)) {
        ++waits;
        EXPECT_EQ(after.gains[gpu], 0);
        continue;
      }
      ++begins;
    }
    EXPECT_GE(after.answer.objective, before.answer.objective - 3 * loss_min - rounding);
  }
  EXPECT_GT(waits, 5);
  EXPECT_GT(begins, 5);
}

TEST(Prune, WhatLosesByWaitingBeginsNow) {
  constexpr int kWait = 5;
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 30, 10);
    const Answer found = solve_fleet(problem, {.nodes_max = 2000, .gap = 0});
    if (found.is_infeasible || found.misses_floors) continue;
    const Pruned before = without_low_value_changes(problem, found);
    const Pruned after = with_changes_postponed(problem, before, {.wait_slots = kWait, .loss_min = 1e-6});
    EXPECT_GE(after.answer.objective, before.answer.objective - 1e-5);
    for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
      if (!changes_now(after.answer.schedule, gpu)) continue;
      const Schedule later = postponed(problem, after.answer.schedule, gpu, kWait);
      if (find_fault(problem, later)) continue;
      ++kept;
      EXPECT_LE(evaluate(problem, later).objective, after.answer.objective);
    }
  }
  EXPECT_GT(kept, 5);
}

}  // namespace
}  // namespace berth::planner
