#include "sim/study/size_ideas.h"

#include <gtest/gtest.h>

#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

using testing::Row;
using testing::service_of;

constexpr std::int64_t kIdeasRunSeconds = 240;

/// Requests of each second: `high` in the first or in the second half of the run, else `low`.
Arrivals half_load(bool is_first_half, std::uint32_t high, std::uint32_t low) {
  std::vector<std::uint32_t> counts;
  counts.reserve(kIdeasRunSeconds);
  for (std::int64_t second = 0; second < kIdeasRunSeconds; ++second) {
    counts.push_back((second < kIdeasRunSeconds / 2) == is_first_half ? high : low);
  }
  return testing::counted(std::move(counts));
}

/// Two services that peak one after the other; a 1g serves 20 requests per second by default, 40 with the better point.
Scenario taking_turns() {
  const std::vector<Row> rows = {{.profile = "1g.10gb", .latency_ms = 50},
                                 {.profile = "1g.10gb", .batch = 8, .latency_ms = 200},
                                 {.profile = "full", .latency_ms = 25},
                                 {.profile = "full", .batch = 8, .latency_ms = 100}};
  std::vector<ServiceSpec> services = {service_of("a", rows, half_load(true, 380, 30)),
                                       service_of("b", rows, half_load(false, 380, 30))};
  for (ServiceSpec& service : services) {
    testing::set_target_ms(service, 420);
    service.batching = {.slo_factor = Decimal(2, 10), .processes_max = 1};
    service.start = Micros::seconds(1);
  }
  Scenario scenario = testing::scenario_of(std::move(services), {}, 1);
  scenario.layout.reset();
  return scenario;
}

TEST(SizeIdeas, VariantsAreAStepOnlyWhereThereAreSome) {
  Scenario scenario = taking_turns();
  const auto names = [](const std::vector<Idea>& ideas) {
    std::vector<std::string> all;
    all.reserve(ideas.size());
    for (const Idea& idea : ideas) all.emplace_back(idea.adds);
    return all;
  };
  EXPECT_EQ(names(ideas_of(scenario)),
            (std::vector<std::string>{"whole GPUs", "slices", "operating points", "reconfiguration", "forecasts"}));
  scenario.services[1].variants.emplace_back();
  EXPECT_EQ(names(ideas_of(scenario)), (std::vector<std::string>{"whole GPUs", "slices", "operating points",
                                                                 "reconfiguration", "variants", "forecasts"}));
}

TEST(SizeIdeas, EachStepLeavesOutLessThanTheOneBefore) {
  Scenario scenario = taking_turns();
  scenario.services[0].variants.emplace_back();
  policy::Settings base;
  base.berth.nodes_max = 77;
  const std::vector<Idea> ideas = ideas_of(scenario);
  const auto left_out = [&](std::size_t step) {
    const policy::Settings settings = settings_of(ideas[step], base);
    EXPECT_EQ(settings.berth.nodes_max, 77);
    return std::vector<bool>{settings.berth.recuts == 0, settings.berth.points == 0, settings.berth.variants == 0};
  };
  EXPECT_EQ(left_out(1), (std::vector<bool>{true, true, true}));
  EXPECT_EQ(left_out(2), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(left_out(3), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(left_out(4), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(left_out(5), (std::vector<bool>{false, false, false}));
}

TEST(SizeIdeas, EachIdeaSavesWhereItHelps) {
  const Scenario scenario = taking_turns();
  const SizeOptions options{.attainment = Decimal(95, 100), .gpus_max = 24, .seeds = {1}};
  const std::vector<Idea> ideas = ideas_of(scenario);
  std::vector<IdeaSize> steps;
  steps.reserve(ideas.size());
  for (const Idea& idea : ideas) {
    auto size = size_policy(scenario, idea.policy, options, {}, settings_of(idea, {}));
    ASSERT_TRUE(size);
    ASSERT_TRUE(size->gpus) << idea.adds << ": " << size->infeasible.value_or("");
    const bool is_fixed = std::ranges::find(idea.without, "berth.recuts") != idea.without.end();
    // A slice that gets another holder starts again: the time lost shows whether any did.
    EXPECT_TRUE(!is_fixed || size->at_answer->figures.lost_slice_seconds == 0) << idea.adds;
    steps.push_back({.adds = std::string(idea.adds), .without = {}, .size = std::move(*size)});
  }
  // 380 requests per second need ten whole GPUs at the default point, or 19 slices of 1g, or ten at the better point;
  // 30 per second need one. Slices for both peaks at once need three GPUs, for one after the other two.
  EXPECT_EQ(gpus_saved(steps, 0), std::nullopt);
  EXPECT_GT(gpus_saved(steps, 1), 0);
  EXPECT_GT(gpus_saved(steps, 2), 0);
  EXPECT_GT(gpus_saved(steps, 3), 0);
  EXPECT_GT(steps[3].size.at_answer->figures.lost_slice_seconds, 0);
  EXPECT_FALSE(steps.back().size.is_hindsight);
}

TEST(SizeIdeas, AStepMayCostMoreAndMayHaveNoAnswer) {
  std::vector<IdeaSize> steps(4);
  steps[0].size.gpus = 4;
  steps[1].size.gpus = 3;
  steps[2].size.gpus = 5;
  EXPECT_EQ(gpus_saved(steps, 1), 1);
  EXPECT_EQ(gpus_saved(steps, 2), -2);
  EXPECT_EQ(gpus_saved(steps, 3), std::nullopt);
}

}  // namespace
}  // namespace berth::study
