#include "planner/many_gpus/detail/lending.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "planner/many_gpus/fleet.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner::fleet {
namespace {

Schedule schedule_of(const FleetState& state, int gpus) {
  Schedule schedule;
  for (const GpuIndex gpu : Indices<GpuIndex>(gpus)) schedule.gpus.push_back(state.path(gpu).changes);
  return schedule;
}

/// Two GPUs that cannot be partitioned: the first serves both services, whose models are stale; the second is unowned.
Problem two_stale_models() {
  Problem problem;
  problem.slots = 40;
  problem.models.resize(1);
  problem.models[0].sites = {{.start = 0, .profile = {}, .kind = {}, .clashes = 1}};
  const Rates rates{.requests_per_second = {10}, .retraining_slots = 10};
  problem.models[0].rates = {{rates, rates}};
  problem.models[0].sms = {100};
  problem.gpus.resize(3);
  problem.gpus[0].standing = {{.piece = {.site = {}, .service = {}, .use = 0}, .ready_in = 0}};
  problem.gpus[1].standing = {{.piece = {.site = {}, .service = ServiceIndex(1), .use = 0}, .ready_in = 0}};
  problem.gpus[2].standing = {{.piece = {.site = {}, .service = {}, .use = 0}, .ready_in = 0}};
  for (int i = 0; i < 2; ++i) {
    ServiceTerms& service = problem.services.emplace_back();
    service.loads.assign(static_cast<std::size_t>(problem.slots) + 1, 10);
    service.variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
    service.retraining.emplace().is_stale = true;
  }
  return problem;
}

TEST(FleetLending, OneSliceRetrainsOneModelAfterTheOther) {
  const Problem problem = two_stale_models();
  const Terms terms(problem);
  FleetState state(terms);
  EXPECT_NEAR(state.objective(), 40 * 10 * 0.5 * 2, 1e-9);
  Lending lending(terms);
  const double gain = lending.improve(state, GpuIndex(2));
  // One is fresh from slot 10 on, the other from slot 20 on; serving capacity is unchanged.
  EXPECT_NEAR(gain, (30 + 20) * 10 * 0.5, 1e-9);
  EXPECT_NEAR(state.objective(), 40 * 10 * 0.5 * 2 + gain, 1e-9);
  EXPECT_EQ(lending.improve(state, GpuIndex(2)), 0);
  EXPECT_GT(lending.nodes(), 0);
}

TEST(FleetLending, WhatIsPinnedIsLentToItsOwnerOnly) {
  Problem problem = two_stale_models();
  problem.gpus[2].pins = {{.site = {}, .service = {}}};
  const Terms terms(problem);
  FleetState state(terms);
  Lending lending(terms);
  EXPECT_NEAR(lending.improve(state, GpuIndex(2)), 30 * 10 * 0.5, 1e-9);
  EXPECT_EQ(find_fault(problem, schedule_of(state, 3)).value_or(""), "");
}

/// The layout of a file may hold a slice with a service that it cannot serve in time. Nothing begins without a rate.
TEST(FleetLending, WhatStandsWithoutARateDoesNotComeBackFromALoan) {
  Problem problem = two_stale_models();
  problem.models.push_back(problem.models[0]);
  for (Rates& rates : problem.models[1].rates[0]) rates.requests_per_second = {0};
  problem.gpus[2].model = ModelIndex(1);
  const Terms terms(problem);
  FleetState state(terms);
  Lending lending(terms);
  EXPECT_GT(lending.improve(state, GpuIndex(2)), 0);
  EXPECT_EQ(find_fault(problem, schedule_of(state, 3)).value_or(""), "");
}

/// The returned gain is that of the schedule, and no rule is broken.
TEST(FleetLending, TheGainIsExact) {
  int lent_count = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 60, seed % 2 == 0 ? 0 : 10);
    const Terms terms(problem);
    FleetState state(terms);
    if (state.shortfall() > 0) continue;
    Lending lending(terms);
    for (const GpuIndex gpu : Indices<GpuIndex>(3)) {
      const double before = state.score();
      const double gain = lending.improve(state, gpu);
      EXPECT_GE(gain, 0);
      EXPECT_NEAR(state.score() - before, gain, 1e-9 * (1 + std::abs(before)));
      lent_count += gain > 0 ? 1 : 0;
    }
    const Schedule schedule = schedule_of(state, 3);
    EXPECT_EQ(find_fault(problem, schedule).value_or(""), "");
    EXPECT_NEAR(evaluate(problem, schedule).objective, state.objective(), 1e-9 * (1 + std::abs(state.objective())));
  }
  EXPECT_GT(lent_count, 10);
}

}  // namespace
}  // namespace berth::planner::fleet
