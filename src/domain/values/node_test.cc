#include "domain/values/node.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

Scenario fleet_of(const std::vector<std::int64_t>& counts, std::int64_t gpus_per_node) {
  Scenario scenario;
  scenario.gpus_per_node = gpus_per_node;
  for (const std::int64_t count : counts)
    scenario.fleet.push_back({.model = {}, .count = count, .usd_per_gpu_hour = {}});
  return scenario;
}

TEST(Node, NeverMixesEntries) {
  const Scenario scenario = fleet_of({10, 3, 8}, 4);
  EXPECT_EQ(node_count(scenario), 6U);
  const std::vector<GpuRange> nodes = {{{0}, 4}, {{4}, 4}, {{8}, 2}, {{10}, 3}, {{13}, 4}, {{17}, 4}};
  for (std::uint32_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(gpus_of(scenario, {i}), nodes[i]) << i;
  EXPECT_DEATH(static_cast<void>(gpus_of(scenario, {6})), "broken invariant");
  EXPECT_DEATH(static_cast<void>(node_of(scenario, {21})), "broken invariant");
}

TEST(Node, EachGpuIsInTheNodeThatListsIt) {
  for (const std::int64_t gpus_per_node : {1, 2, 3, 7, 8, 100}) {
    const Scenario scenario = fleet_of({10, 3, 8, 1, 16}, gpus_per_node);
    std::uint32_t gpu = 0;
    for (std::uint32_t node = 0; node < node_count(scenario); ++node) {
      const GpuRange range = gpus_of(scenario, {node});
      EXPECT_EQ(range.first.index, gpu);
      for (std::uint32_t i = 0; i < range.count; ++i) EXPECT_EQ(node_of(scenario, {gpu++}), NodeId{node});
    }
    EXPECT_EQ(gpu, scenario.gpu_count()) << gpus_per_node;
  }
}

TEST(Node, AnEmptyFleetHasNone) { EXPECT_EQ(node_count(fleet_of({}, 8)), 0U); }

TEST(Node, NamesCountFromZero) { EXPECT_EQ(node_name({12}), "node-12"); }

}  // namespace
}  // namespace berth
