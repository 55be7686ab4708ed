#include "engine/loop/enforcement.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "domain/mig/catalogue.h"
#include "domain/profile/operating_point.h"
#include "engine/loop/engine.h"
#include "engine/loop/test_fleet.h"
#include "planner/window/frame.h"

namespace berth {
namespace {

/// A T4 and an A30, both whole; service a is fast enough on either, and known on the T4 only.
Scenario two_models() {
  Scenario scenario;
  scenario.fleet = {{.model = *mig::find_gpu_model("T4"), .count = 2, .usd_per_gpu_hour = Decimal(2)},
                    {.model = *mig::find_gpu_model("A30"), .count = 2, .usd_per_gpu_hour = Decimal(1)}};
  ServiceSpec service;
  service.name = service.tenant = "a";
  service.target = Micros(100'000);
  service.target_ms = Decimal(100);
  service.arrivals.seconds = 60;
  service.expects = Decimal(20);
  for (const char* gpu : {"A30-24GB", "T4-16GB"}) {
    service.table.points.push_back({.gpu = gpu,
                                    .profile = "full",
                                    .batch = 1,
                                    .processes = 1,
                                    .requests_per_second = Decimal(50),
                                    .latency_ms = Decimal(20)});
  }
  service.tier.is_auto = true;
  service.tier.known_on = {"T4-16GB"};
  scenario.services.push_back(service);
  return scenario;
}

Event measured(const std::string& gpu, std::int64_t second) {
  return {.at = Instant::at_second(second), .what = TierMeasured{.service = {0}, .gpu = gpu}};
}

/// An engine whose stages do nothing, and the scenario that they see.
struct SeeingEngine {
  explicit SeeingEngine(const Scenario& scenario, bool is_strict = true)
      : engine(scenario,
               [this](const Scenario& shown) {
                 seen = &shown;
                 return std::vector<Stage>();
               },
               {.is_strict = is_strict}) {}
  [[nodiscard]] const ServiceSpec& spec() const { return seen->services[0]; }

  const Scenario* seen = nullptr;
  Engine engine;
};

TEST(Enforcement, StagesSeePredictionsUntilARowIsMeasured) {
  SeeingEngine world(two_models());
  const PerformanceTable given = two_models().services[0].table;
  EXPECT_EQ(world.spec().table.points[1], given.points[1]);  // the T4's
  EXPECT_LT(world.spec().table.points[0].latency_ms, given.points[0].latency_ms);
  EXPECT_EQ(world.spec().tier.predicted_on, std::vector<std::string>{"A30-24GB"});
  EXPECT_EQ(world.engine.scenario().services[0].table, given);
  const std::uint64_t version = world.engine.snapshot().specs_version;
  world.engine.observe(measured("A30-24GB", 1));
  static_cast<void>(world.engine.step(Instant::at_second(1)));
  EXPECT_EQ(world.spec().table, given);
  EXPECT_TRUE(world.spec().tier.predicted_on.empty());
  EXPECT_GT(world.engine.snapshot().specs_version, version);
  EXPECT_EQ(set_revision(world.engine.snapshot().services[0].revision), 0U);
  EXPECT_NE(world.engine.snapshot().services[0].revision, 0U);
}

TEST(Enforcement, TheFirstStepChoosesAModel) {
  SeeingEngine world(two_models());
  const StepAnswer answer = world.engine.step(Instant());
  ASSERT_EQ(answer.tiers.size(), 1U);
  EXPECT_EQ(answer.tiers[0].gpu, "A30-24GB");
  EXPECT_TRUE(answer.tiers[0].is_predicted);
  EXPECT_GE(answer.tiers[0].probability, 0.9);
  EXPECT_EQ(world.spec().tier.gpu, "A30-24GB");
  EXPECT_EQ(*world.engine.tier_of({0}), answer.tiers[0]);
}

TEST(Enforcement, AMeasuredMissMovesAtOnce) {
  Scenario scenario = two_models();
  scenario.services[0].table.points[0].latency_ms = Decimal(500);
  SeeingEngine world(scenario);
  ASSERT_EQ(world.engine.step(Instant()).tiers[0].gpu, "A30-24GB");
  world.engine.observe(measured("A30-24GB", 7));
  const StepAnswer answer = world.engine.step(Instant::at_second(7));
  ASSERT_EQ(answer.tiers.size(), 1U);
  EXPECT_EQ(answer.tiers[0].gpu, "T4-16GB");
  EXPECT_NE(answer.tiers[0].reason.find("measured"), std::string::npos);
}

TEST(Enforcement, PoliciesThatObeyNothingSeeTheScenario) {
  SeeingEngine world(two_models(), false);
  EXPECT_TRUE(world.engine.step(Instant()).tiers.empty());
  EXPECT_EQ(world.spec(), two_models().services[0]);
}

TEST(Enforcement, ASetServiceBeginsAnew) {
  SeeingEngine world(two_models());
  static_cast<void>(world.engine.step(Instant()));
  world.engine.observe(measured("A30-24GB", 1));
  static_cast<void>(world.engine.step(Instant::at_second(1)));
  auto spec = std::make_shared<ServiceSpec>(two_models().services[0]);
  world.engine.observe({.at = Instant::at_second(2), .what = ServiceSet{.service = {0}, .revision = 1, .spec = spec}});
  EXPECT_EQ(world.engine.step(Instant::at_second(2)).tiers.size(), 1U);
  EXPECT_EQ(world.spec().tier.predicted_on, std::vector<std::string>{"A30-24GB"});
  spec = std::make_shared<ServiceSpec>(*spec);
  spec->tier = {};
  world.engine.observe({.at = Instant::at_second(3), .what = ServiceSet{.service = {0}, .revision = 2, .spec = spec}});
  EXPECT_TRUE(world.engine.step(Instant::at_second(3)).tiers.empty());
  EXPECT_EQ(world.spec(), *spec);
}

TEST(Enforcement, ARestoredEngineContinuesAsTheSavedOne) {
  SeeingEngine saved(two_models());
  static_cast<void>(saved.engine.step(Instant()));
  saved.engine.observe(measured("A30-24GB", 1));
  static_cast<void>(saved.engine.step(Instant::at_second(1)));
  SeeingEngine restored(saved.engine.scenario());
  const auto unread = restored.engine.restore(saved.engine.memory());
  ASSERT_TRUE(unread.has_value());
  EXPECT_TRUE(unread->empty());
  EXPECT_EQ(restored.spec(), saved.spec());
  EXPECT_EQ(*restored.engine.tier_of({0}), *saved.engine.tier_of({0}));
}

TEST(Enforcement, DamagedMemoryIsReported) {
  SeeingEngine saved(two_models());
  static_cast<void>(saved.engine.step(Instant()));
  EngineMemory memory = saved.engine.memory();
  ASSERT_EQ(memory.stages.back().stage, "tier");
  memory.stages.back().bytes.pop_back();
  SeeingEngine restored(two_models());
  EXPECT_EQ(restored.engine.restore(memory), std::vector<std::string>{"tier"});
  EXPECT_TRUE(restored.spec().tier.gpu.empty());
  EXPECT_EQ(restored.engine.step(Instant::at_second(1)).tiers.size(), 1U);
}

TEST(Enforcement, WithoutRulesNothingIsRemembered) {
  Scenario scenario = two_models();
  scenario.services[0].tier = {};
  SeeingEngine world(scenario);
  static_cast<void>(world.engine.step(Instant()));
  EXPECT_TRUE(world.engine.memory().stages.empty());
  EXPECT_EQ(world.engine.snapshot().services[0].revision, 0U);
}

// ---- a pinned model

TEST(PinnedModel, GivesAServiceNoRateElsewhere) {
  Scenario scenario = two_models();
  ServiceSpec& service = scenario.services[0];
  service.tier = {.is_auto = false, .gpu = "T4-16GB"};
  service.retraining = Retraining{.every = Micros::seconds(60), .offset = {}, .swap = {}, .time_on = {{0, Micros(1)}}};
  const planner::Frame frame = planner::make_frame(scenario);
  ASSERT_EQ(frame.models.size(), 2U);
  const auto has_rate = [](const planner::ModelTerms& model) {
    for (const auto& kind : model.rates) {
      if (kind[0].requests_per_second[0] > 0 || kind[0].retraining_slots > 0) return true;
    }
    return false;
  };
  EXPECT_TRUE(has_rate(frame.models[0]));
  EXPECT_FALSE(has_rate(frame.models[1]));
  EXPECT_TRUE(profile::choose_point(service, scenario.fleet[0].model, ProfileId::full()));
  EXPECT_FALSE(profile::choose_point(service, scenario.fleet[1].model, ProfileId::full()));
}

}  // namespace
}  // namespace berth
