#include "planner/many_gpus/detail/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "planner/many_gpus/fleet.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner::fleet {
namespace {

/// Late changes move to slots where they gain, and the returned gain is that of the schedule.
TEST(FleetTiming, LateChangesComeEarlierAndTheGainIsExact) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = testing::fleet_problem(Rng(seed), 4, 4, 60, 0);
    const Terms terms(problem);
    Answer answer = solve_fleet(problem, {.nodes_max = 1'000, .gap = 1});
    FleetState state(terms);
    for (const GpuIndex gpu : Indices<GpuIndex>(4)) {
      std::vector<Change>& changes = answer.schedule.gpus[idx(gpu)];
      if (changes.size() > 1) changes.resize(1);
      for (Change& change : changes) change.slot = std::min(change.slot + 9, terms.tail() - 1);
      state.take_out(gpu);
      state.put(gpu, make_path(terms, gpu, changes));
    }
    Timing timing(terms);
    for (const GpuIndex gpu : Indices<GpuIndex>(4)) {
      const double before = state.score();
      const double gain = timing.improve(state, gpu);
      EXPECT_GE(gain, 0);
      EXPECT_NEAR(state.score() - before, gain, 1e-9 * (1 + std::abs(before)));
      moved += gain > 0 ? 1 : 0;
      answer.schedule.gpus[idx(gpu)] = state.path(gpu).changes;
    }
    EXPECT_EQ(find_fault(problem, answer.schedule).value_or(""), "");
    EXPECT_NEAR(evaluate(problem, answer.schedule).objective, state.objective(),
                1e-9 * (1 + std::abs(state.objective())));
  }
  EXPECT_GT(moved, 20);
}

}  // namespace
}  // namespace berth::planner::fleet
