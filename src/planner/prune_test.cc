#include "planner/prune.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/check.h"
#include "planner/detail/test_problems.h"
#include "planner/fleet.h"

namespace berth::planner {
namespace {

Configuration standing_on(const GpuTerms& gpu) {
  Configuration pieces;
  for (const StandingPiece& standing : gpu.standing) pieces.push_back(standing.piece);
  return pieces;
}

/// What the changes of a GPU gain beside all others; nothing where the schedule needs them.
std::optional<double> gain_of(const Problem& problem, const Schedule& schedule, std::size_t gpu) {
  Schedule without = schedule;
  without.gpus[gpu].clear();
  if (find_fault(problem, without)) return std::nullopt;
  return evaluate(problem, schedule).objective - evaluate(problem, without).objective;
}

bool changes_now(const Schedule& schedule, std::size_t gpu) {
  return !schedule.gpus[gpu].empty() && schedule.gpus[gpu].front().slot == 0;
}

TEST(Prune, WhatIsLeftPaysForItsSlices) {
  int left_out = 0;
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 30, 10);
    Answer before = solve_fleet(problem, {.nodes_max = 2000, .gap = 0});
    if (before.is_infeasible || before.misses_floors) continue;
    const double least = 0.04 * std::abs(before.objective);
    const Pruned pruned = without_what_hardly_pays(problem, before, least);
    const Answer& after = pruned.answer;
    SCOPED_TRACE(seed);
    ASSERT_EQ(find_fault(problem, after.schedule).value_or(""), "");
    ASSERT_NEAR(after.objective, evaluate(problem, after.schedule).objective, 1e-9 * (1 + std::abs(after.objective)));
    EXPECT_EQ(after.bound, before.bound);
    for (std::size_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
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
      const int slices = slices_changed(standing_on(problem.gpus[gpu]), after.schedule.gpus[gpu].front().to);
      EXPECT_GE(*gain, least * std::max(1, slices) - 1e-6 * (1 + std::abs(after.objective)));
    }
  }
  EXPECT_GT(left_out, 5);
  EXPECT_GT(kept, 5);
}

TEST(Prune, CountsSitesThatOnlyOneHolds) {
  const Configuration from = {{.site = 1, .service = 0, .use = 0}, {.site = 4, .service = 1, .use = 0}};
  const Configuration to = {{.site = 1, .service = 2, .use = 0}, {.site = 5, .service = 1, .use = 0}};
  EXPECT_EQ(slices_changed(from, to), 2);
  EXPECT_EQ(slices_changed(from, from), 0);
}

}  // namespace
}  // namespace berth::planner
