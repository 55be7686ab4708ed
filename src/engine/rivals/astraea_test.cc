#include "engine/rivals/astraea.h"

#include <gtest/gtest.h>

#include "engine/rivals/detail/test_sight.h"

namespace berth::partition {
namespace {

using testing::compute_slices;
using testing::gpus;
using testing::scenario_of;
using testing::service_everywhere;
using testing::SightBuilder;
using testing::two_services_on;

TEST(Astraea, EverybodyGetsAtLeastWhatItsTargetNeeds) {
  const Scenario scenario = two_services_on("A100-80GB");
  Astraea astraea(scenario, {});
  SightBuilder world(scenario);
  world.remember(600, {280, 180});
  EXPECT_TRUE(world.step(astraea));
  EXPECT_GE(compute_slices(scenario, world.slices(0)), 3);
  EXPECT_GE(compute_slices(scenario, world.slices(1)), 2);
}

TEST(Astraea, KeepsStillWhileNoTargetIsAtRisk) {
  const Scenario scenario = two_services_on("A100-80GB");
  Astraea astraea(scenario, {});
  SightBuilder world(scenario);
  world.remember(600, {280, 180});
  EXPECT_TRUE(world.step(astraea));
  for (int i = 0; i < 20; ++i) {
    world.pass(10, {275, 176});
    EXPECT_FALSE(world.step(astraea)) << "a little less load puts nobody at risk";
  }
}

TEST(Astraea, GivesMoreWhereATargetIsAtRisk) {
  const Scenario scenario = two_services_on("A100-80GB");
  Astraea astraea(scenario, {});
  SightBuilder world(scenario);
  world.remember(600, {380, 180});
  EXPECT_TRUE(world.step(astraea));
  const int before = compute_slices(scenario, world.slices(1));
  for (int i = 0; i < 20; ++i) {
    world.pass(10, {100, 480});
    world.step(astraea);
  }
  EXPECT_GT(compute_slices(scenario, world.slices(1)), before);
}

TEST(Astraea, DecidesOnceAPeriod) {
  const Scenario scenario = two_services_on("A100-80GB");
  Astraea astraea(scenario, {.period_seconds = 300});
  SightBuilder world(scenario);
  world.remember(600, {380, 180});
  EXPECT_TRUE(world.step(astraea));
  world.pass(299, {100, 480});
  EXPECT_FALSE(world.step(astraea));
  world.pass(1, {100, 480});
  EXPECT_TRUE(world.step(astraea));
}

TEST(Astraea, AGainThatIsTooSmallMovesNothing) {
  const Scenario scenario = two_services_on("A100-80GB");
  Astraea astraea(scenario, {.gain_min = 0.9});
  SightBuilder world(scenario);
  world.remember(600, {380, 180});
  EXPECT_TRUE(world.step(astraea));
  world.pass(100, {100, 480});
  EXPECT_FALSE(world.step(astraea));
}

TEST(Astraea, LeftoversGoToRetraining) {
  Scenario scenario = two_services_on("A100-80GB");
  scenario.services[1].retraining = testing::retraining_of(600, 100, 200);
  scenario.services[1].accuracy = {.before_micro = 600'000, .after_micro = 900'000};
  Astraea astraea(scenario, {});
  SightBuilder world(scenario);
  world.remember(600, {180, 180});
  EXPECT_TRUE(world.step(astraea));
  world.pass(100, {180, 180});
  world.set_due(1, true);
  EXPECT_TRUE(world.step(astraea));
  EXPECT_EQ(world.slices(1, Role::kRetraining).size(), 1U);
  EXPECT_GE(compute_slices(scenario, world.slices(0)), 2) << "targets come first";
  EXPECT_GE(compute_slices(scenario, world.slices(1)), 2);
  world.pass(60, {180, 180});
  EXPECT_FALSE(world.step(astraea)) << "a retraining under way stays where it is";
  world.set_due(1, false);
  world.step(astraea);
  world.pass(100, {480, 180});
  world.step(astraea);
  EXPECT_GE(compute_slices(scenario, world.slices(0)), 4) << "what retrained serves again when it is needed";
}

TEST(Astraea, LaysOutFleetsOfSeveralModelsAndOnesThatCannotBeCut) {
  const Scenario scenario = scenario_of({gpus("A100-80GB", 1), gpus("A30", 1), gpus("T4-16GB", 1)},
                                        {service_everywhere("a"), service_everywhere("b"), service_everywhere("c")});
  Astraea astraea(scenario, {});
  SightBuilder world(scenario);
  world.remember(300, {300, 200, 100});
  testing::expect_sound_target(scenario, astraea.decide(world.sight()));
}

TEST(Astraea, SaysWhatIsMissing) {
  const Scenario crowded = two_services_on("T4-16GB");
  EXPECT_TRUE(std::holds_alternative<Infeasible>(Astraea(crowded, {}).decide(SightBuilder(crowded).sight())));
}

}  // namespace
}  // namespace berth::partition
