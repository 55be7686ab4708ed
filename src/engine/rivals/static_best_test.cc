#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/rivals/detail/test_scenario.h"
#include "engine/rivals/layout.h"

namespace berth::partition {
namespace {

using testing::gpus;
using testing::scenario_of;
using testing::service_everywhere;
using testing::show;

/// Scores a list of slices by its SMs against what the service wants.
StaticBestSearch search_for(const Scenario& scenario, std::vector<double> sms_wanted) {
  StaticBestSearch search;
  search.weights.assign(scenario.services.size(), 1.0);
  search.score_service = [&scenario, sms_wanted](ServiceId service, const std::vector<Slice>& slices) {
    double sms = 0;
    for (const Slice& slice : slices) sms += profile_sms(scenario.model_of(slice.gpu), slice.profile);
    return std::min(1.0, sms / sms_wanted[service.index]);
  };
  search.score_layout = [&scenario, ask = search.score_service](const Layout& layout) {
    double total = 0;
    for (std::uint32_t i = 0; i < scenario.services.size(); ++i) total += ask({i}, slices_of(layout, {i}));
    return total;
  };
  return search;
}

Scenario one_a100(int service_count) {
  std::vector<ServiceSpec> services;
  for (int i = 0; i < service_count; ++i)
    services.push_back(service_everywhere(std::string(1, static_cast<char>('a' + i))));
  return scenario_of({gpus("A100-80GB", 1)}, services);
}

TEST(StaticBest, TakesFewerSlicesThenTheFirstOfEqualLayouts) {
  const Scenario scenario = one_a100(2);
  // 4g + 3g would do as well as 4g + 2g + 1g; 1g alone is enough for b, and 2g + 1g too.
  const StaticBest found = static_best_layout(scenario, search_for(scenario, {56, 14}));
  EXPECT_EQ(show(scenario, found.layout), "0:4g.40gb@0=a 0:3g.40gb@4=b");
  EXPECT_TRUE(found.is_exhaustive);
}

TEST(StaticBest, LeavesAServiceOutOnlyWhereItMay) {
  const Scenario scenario = one_a100(2);
  StaticBestSearch search = search_for(scenario, {108, 10'000});
  EXPECT_EQ(show(scenario, static_best_layout(scenario, search).layout), "0:4g.40gb@0=a 0:2g.20gb@4=a 0:1g.10gb@6=b");
  search.serves_every_service = false;
  EXPECT_EQ(show(scenario, static_best_layout(scenario, search).layout), "0:full@0=a");
  const Scenario crowded = one_a100(8);
  search = search_for(crowded, std::vector<double>(8, 14));
  EXPECT_EQ(show(crowded, static_best_layout(crowded, search).layout),
            "infeasible: needs 8 slices, one for each service; the fleet's 1 GPU can be cut into at most 7");
  search.serves_every_service = false;
  EXPECT_EQ(std::get<Layout>(static_best_layout(crowded, search).layout).size(), 7U);
}

TEST(StaticBest, CountsWhatItTried) {
  const Scenario scenario = one_a100(1);
  StaticBestSearch search = search_for(scenario, {108});
  const StaticBest exact = static_best_layout(scenario, search);
  EXPECT_EQ(show(scenario, exact.layout), "0:full@0=a");
  // Each piece of each of the 19 layouts and of the whole GPU is owned or not.
  EXPECT_EQ(exact.layouts_tried, 564);
  EXPECT_EQ(exact.evaluations, 65);

  search.is_separable = false;
  const StaticBest by_layouts = static_best_layout(scenario, search);
  EXPECT_EQ(by_layouts.layout, exact.layout);
  EXPECT_TRUE(by_layouts.is_exhaustive);
  EXPECT_EQ(by_layouts.evaluations, 65);

  search.evaluations_max = 64;
  const StaticBest too_few = static_best_layout(scenario, search);
  EXPECT_FALSE(too_few.is_exhaustive);
  EXPECT_LE(too_few.evaluations, 64);
  EXPECT_TRUE(std::holds_alternative<Layout>(too_few.layout));
}

TEST(StaticBest, GivesTheEvenLayoutWithoutABudget) {
  Scenario scenario = one_a100(3);
  scenario.fleet = {gpus("A100-80GB", 2)};
  StaticBestSearch search = search_for(scenario, {100, 50, 10});
  search.evaluations_max = 0;
  const StaticBest found = static_best_layout(scenario, search);
  EXPECT_EQ(found.layout, static_even_layout(scenario));
  EXPECT_EQ(found.evaluations, 0);
  EXPECT_FALSE(found.is_exhaustive);
}

TEST(StaticBest, FindsTheUnevenSplitOfAFleet) {
  Scenario scenario = one_a100(3);
  scenario.fleet = {gpus("A100-80GB", 4)};
  // The last two want 98 and 14; the first wants two whole GPUs and six sevenths of the last one.
  const StaticBest found = static_best_layout(scenario, search_for(scenario, {300, 98, 14}));
  const auto& layout = std::get<Layout>(found.layout);
  testing::expect_sound(scenario, layout);
  EXPECT_NEAR(search_for(scenario, {300, 98, 14}).score_layout(layout), 3.0, 1e-9);
}

}  // namespace
}  // namespace berth::partition
