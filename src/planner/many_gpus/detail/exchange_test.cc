#include "planner/many_gpus/detail/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/test_cases.h"
#include "planner/many_gpus/detail/response.h"
#include "planner/many_gpus/testing/schedules.h"

namespace berth::planner::fleet {
namespace {

/// Two GPUs that cannot be partitioned, of two models: the first serves 30 requests per second of service 0 and 10 of
/// service 1, the second the reverse. Both services have a load of 30.
Problem two_models() {
  Problem problem;
  problem.slots = 40;
  problem.tail_seconds = 20;
  for (const bool is_first : {true, false}) {
    ModelTerms& model = problem.models.emplace_back();
    model.sites = {{.start = 0, .profile = {}, .kind = {}, .clashes = 1}};
    const Rates good{.requests_per_second = {30}, .retraining_slots = 0};
    const Rates bad{.requests_per_second = {10}, .retraining_slots = 0};
    model.rates = {is_first ? std::vector{good, bad} : std::vector{bad, good}};
    model.sms = {100};
    problem.gpus.emplace_back().model = ModelIndex(is_first ? 0 : 1);
  }
  for (int i = 0; i < 2; ++i) {
    ServiceTerms& service = problem.services.emplace_back();
    service.loads.assign(41, 30);
    service.variants = {{.accuracy_before = 1, .accuracy_after = 1}};
    service.start_seconds = 2;
  }
  return problem;
}

/// Each GPU is given at once to the service that it serves badly.
Schedule wrong_way_round() {
  const auto given_to = [](ServiceIndex service) {
    return std::vector<Change>{{.slot = {}, .to = {{.site = {}, .service = service, .use = 0}}}};
  };
  return {.gpus = {given_to(ServiceIndex(1)), given_to(ServiceIndex(0))}};
}

double gain_of_exchange(const Problem& problem) {
  const Terms terms(problem);
  FleetState state = state_of(terms, wrong_way_round());
  Exchange exchange(terms);
  const double gain = exchange.run(state, 5);
  EXPECT_NEAR(gain, state.score() - state_of(terms, wrong_way_round()).score(), 1e-9);
  return gain;
}

/// Ready after 3 slots: 37 slots and the tail with 20 more requests per second of each.
TEST(FleetExchange, TwoSlicesChangeOwners) { EXPECT_NEAR(gain_of_exchange(two_models()), 2 * 20 * (37 + 20), 1e-6); }

TEST(FleetExchange, ServicesThatMayNotShareAGpuOrHaveABudgetKeepTheirSlices) {
  Problem apart = two_models();
  apart.services[0].is_alone_on_gpu = true;
  EXPECT_EQ(gain_of_exchange(apart), 0);
  Problem budgeted = two_models();
  budgeted.services[0].changes_max = 10;
  EXPECT_EQ(gain_of_exchange(budgeted), 0);
}

/// The owner of a pinned slice gets the other slice as well: 10 of the other service are lost for 20 of its own.
TEST(FleetExchange, APinnedSliceKeepsItsOwner) {
  Problem pinned = two_models();
  pinned.gpus[0].pins = {{.site = {}, .service = ServiceIndex(1)}};
  EXPECT_NEAR(gain_of_exchange(pinned), (20 - 10) * (37 + 20), 1e-6);
}

/// A service that gains more from a slice than its owner gets it, without giving one in return.
TEST(FleetExchange, ASliceGoesToWhomItIsWorthMore) {
  Problem problem = two_models();
  problem.services[1].loads.assign(41, 0);  // service 1 has no load
  const Terms terms(problem);
  FleetState state = state_of(terms, wrong_way_round());
  Exchange exchange(terms);
  EXPECT_NEAR(exchange.run(state, 5), 20 * (37 + 20), 1e-6);  // 30 in place of 10, the load being 30
  EXPECT_GT(exchange.nodes(), 0);
}

TEST(FleetExchange, GainsAreExactAndNoRuleIsBroken) {
  constexpr std::uint64_t kSeeds = berth::testing::by_build(20, 6);
  int gaining = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::fleet_problem(Rng(seed), 6, 4, 40, seed % 2 == 0 ? 0 : 10);
    const Terms terms(problem);
    // Each GPU chooses what would be best if the others gave nothing, so far too many choose the same.
    FleetState state(terms);
    for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
      FleetState empty(terms);
      Responder responder(terms, make_grid(terms, {SlotIndex(0)}, {}), 1);
      (void)responder.improve(empty, gpu, {.attempts = 1, .moves_retraining = false});
      state.take_out(gpu);
      state.put(gpu, empty.path(gpu));
    }
    const double before = state.score();
    const bool was_sound = state.shortfall() <= 0 && state.excess() <= 0;
    Exchange exchange(terms);
    const double gain = exchange.run(state, 10);
    EXPECT_GE(gain, 0);
    gaining += gain > 0 ? 1 : 0;
    EXPECT_NEAR(state.score() - before, gain, 1e-9 * (1 + std::abs(before)));
    const Schedule schedule = testing::schedule_of(state);
    EXPECT_NEAR(evaluate(problem, schedule).objective, state.objective(), 1e-9 * (1 + std::abs(state.objective())));
    if (was_sound) {
      EXPECT_EQ(find_fault(problem, schedule).value_or(""), "");
    }
  }
  EXPECT_GT(gaining, static_cast<int>(kSeeds) / 3);
}

}  // namespace
}  // namespace berth::planner::fleet
