#include "engine/rivals/ekya.h"

#include <gtest/gtest.h>

#include "engine/rivals/detail/test_sight.h"
#include "engine/rivals/detail/thief.h"

namespace berth::partition {
namespace {

using detail::QuantaShare;
using testing::compute_slices;
using testing::gpus;
using testing::scenario_of;
using testing::service_everywhere;
using testing::SightBuilder;
using testing::two_services_on;

// ---- the thief alone

TEST(Thief, BeginsWithEqualSharesAndStealsWhereItPays) {
  detail::ThiefProblem problem;
  problem.quanta = 14;
  problem.may_retrain = {0, 0};
  problem.value = [](int, const QuantaShare&) { return 0.0; };
  EXPECT_EQ(detail::steal_quanta(problem), (std::vector<QuantaShare>{{7, 0}, {7, 0}}));
  problem.value = [](int service, const QuantaShare& share) {
    return std::min(share.inference, service == 0 ? 11 : 3);
  };
  EXPECT_EQ(detail::steal_quanta(problem), (std::vector<QuantaShare>{{11, 0}, {3, 0}}));
}

TEST(Thief, InferenceAndRetrainingOfAServiceAreSeparateJobs) {
  detail::ThiefProblem problem;
  problem.quanta = 9;
  problem.may_retrain = {1, 0};
  problem.value = [](int service, const QuantaShare& share) {
    const double serving = std::min(share.inference, 3);
    return service == 0 ? serving + (share.retraining >= 3 ? 2 : 0) : serving;
  };
  const auto shares = detail::steal_quanta(problem);
  EXPECT_GE(shares[0].retraining, 3);
  EXPECT_GE(shares[0].inference, 3);
  EXPECT_EQ(shares[0].inference + shares[0].retraining + shares[1].inference, 9);
}

TEST(Thief, LooksBeyondQuantaThatBringNothing) {
  detail::ThiefProblem problem;
  problem.quanta = 4;
  problem.may_retrain = {0, 0};
  // The first service needs four at once.
  problem.value = [](int service, const QuantaShare& share) {
    return service == 0 ? (share.inference >= 4 ? 10.0 : 0.0) : 1.0 * share.inference;
  };
  EXPECT_EQ(detail::steal_quanta(problem), (std::vector<QuantaShare>{{4, 0}, {0, 0}}));
}

// ---- the policy

TEST(Ekya, ComputeGoesWhereTheLoadIs) {
  const Scenario scenario = two_services_on("A100-80GB");
  Ekya ekya(scenario, {});
  SightBuilder world(scenario);
  world.remember(600, {450, 80});
  EXPECT_TRUE(world.step(ekya));
  EXPECT_GE(compute_slices(scenario, world.slices(0)), 5);
  EXPECT_GE(compute_slices(scenario, world.slices(1)), 1);
}

TEST(Ekya, DecidesAtWindowsAndAtNewsOfRetrainingOnly) {
  Scenario scenario = two_services_on("A100-80GB");
  scenario.services[0].retraining = testing::retraining_of(400, 100, 100);
  scenario.services[0].accuracy = {.before_micro = 500'000, .after_micro = 900'000};
  Ekya ekya(scenario, {.period_seconds = 200});
  SightBuilder world(scenario);
  world.remember(600, {300, 100});
  EXPECT_TRUE(world.step(ekya));
  world.pass(50, {100, 500});
  EXPECT_FALSE(world.step(ekya)) << "the load has moved, but the window goes on";
  world.pass(50, {100, 500});
  world.set_due(0, true);
  EXPECT_TRUE(world.step(ekya)) << "a retraining is due";
  EXPECT_EQ(world.slices(0, Role::kRetraining).size(), 1U);
  world.pass(50, {500, 100});
  EXPECT_FALSE(world.step(ekya));
  world.set_due(0, false);
  EXPECT_TRUE(world.step(ekya)) << "it is done: what it held serves again";
  EXPECT_TRUE(world.slices(0, Role::kRetraining).empty());
}

TEST(Ekya, ARetrainingThatGainsNothingGetsNothing) {
  Scenario scenario = two_services_on("A100-80GB");
  scenario.services[0].retraining = testing::retraining_of(200, 0, 150);
  scenario.services[0].accuracy = {.before_micro = 900'000, .after_micro = 901'000};
  Ekya ekya(scenario, {});
  SightBuilder world(scenario);
  world.remember(600, {400, 400});
  world.set_due(0, true);
  EXPECT_TRUE(world.step(ekya));
  EXPECT_TRUE(world.slices(0, Role::kRetraining).empty());
}

TEST(Ekya, PicksTheVariantThatKeepsUp) {
  Scenario scenario = two_services_on("A100-80GB");
  scenario.services[0].accuracy = {.before_micro = 900'000, .after_micro = 900'000};
  const ServiceSpec fast = service_everywhere("fast", 300);
  scenario.services[0].variants = {
      {.name = "fast", .table = fast.table, .accuracy = {.before_micro = 700'000, .after_micro = 700'000}}};
  const auto variant_at = [&](std::int64_t load) {
    Ekya ekya(scenario, {});
    SightBuilder world(scenario);
    world.remember(600, {load, 50});
    EXPECT_TRUE(world.step(ekya));
    const auto& slices = world.snapshot().slices;
    const auto of_a = std::ranges::find_if(
        slices, [](const StandingSlice& slice) { return slice.holding.services == std::vector{ServiceId{0}}; });
    EXPECT_NE(of_a, slices.end());
    return of_a->point ? of_a->point->variant : 0;
  };
  EXPECT_EQ(variant_at(200), 0);
  EXPECT_EQ(variant_at(1500), 1);
}

TEST(Ekya, LaysOutFleetsOfSeveralModelsAndOnesThatCannotBeCut) {
  const Scenario scenario = scenario_of({gpus("A100-80GB", 1), gpus("A30", 1), gpus("T4-16GB", 1)},
                                        {service_everywhere("a"), service_everywhere("b"), service_everywhere("c")});
  Ekya ekya(scenario, {});
  SightBuilder world(scenario);
  world.remember(300, {300, 200, 100});
  testing::expect_sound_target(scenario, ekya.decide(world.sight()));
}

TEST(Ekya, SaysWhatIsMissing) {
  const Scenario nowhere = scenario_of({gpus("T4-16GB", 1)}, {testing::service_with("a", {{"A30", "1g.6gb", 10}})});
  const Decision unservable = Ekya(nowhere, {}).decide(SightBuilder(nowhere).sight());
  ASSERT_TRUE(std::holds_alternative<Infeasible>(unservable));
  const Scenario crowded = two_services_on("T4-16GB");
  EXPECT_TRUE(std::holds_alternative<Infeasible>(Ekya(crowded, {}).decide(SightBuilder(crowded).sight())));
}

}  // namespace
}  // namespace berth::partition
