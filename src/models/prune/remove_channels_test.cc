#include "models/prune/remove_channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/graph/graph_edit.h"
#include "models/prune/testing/channel_chain.h"

namespace berth::models {
namespace {

using berth::testing::ChannelChain;
using berth::testing::node;
using berth::testing::ones;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::SizeIs;

/// Independent channels of variance 1, whose mean is `mean` everywhere.
ChannelStatistics even_statistics(const Model& model, const std::vector<ChannelGroup>& groups, double mean) {
  ChannelStatistics statistics;
  for (const ChannelGroup& group : groups) {
    if (group.left_out) continue;
    const auto count = static_cast<std::size_t>(group.channels);
    for (const ChannelConsumer& consumer : group.consumers) {
      statistics.spreads[consumer.value] = {.channels = group.channels, .variance = std::vector<double>(count, 1.0)};
      const Node& consumes = model.graph.nodes[consumer.node];
      const Dims& dims = model.graph.initializers.at(consumes.inputs[1])->dims;
      std::size_t inputs = static_cast<std::size_t>(dims[consumer.weight_at.axis]);
      for (std::size_t i = 2; i < dims.size(); ++i) inputs *= static_cast<std::size_t>(dims[i]);
      statistics.inputs[consumer.node] = std::vector<double>(inputs, mean);
    }
  }
  return statistics;
}

/// The first channels of the group.
ChannelChoice keep_first(const ChannelGroup& group, std::size_t count) {
  ChannelChoice choice{.group = &group, .kept = std::vector<bool>(static_cast<std::size_t>(group.channels), false)};
  std::fill_n(choice.kept.begin(), count, true);
  return choice;
}

struct Removed {
  std::vector<ChannelGroup> groups;
  std::vector<ChannelChoice> choices;
  Model model;
};

/// Keeps the first `counts` channels of the first groups, where the mean of each channel is 2.
Removed remove_from(const ChannelChain& chain, const std::vector<std::size_t>& counts) {
  Removed removed{.groups = chain.groups(), .choices = {}, .model = {}};
  for (std::size_t g = 0; g < counts.size(); ++g) {
    EXPECT_FALSE(removed.groups[g].left_out) << *removed.groups[g].left_out;
    removed.choices.push_back(keep_first(removed.groups[g], counts[g]));
  }
  const ChannelStatistics statistics = even_statistics(chain.model, removed.groups, 2);
  removed.model = remove_channels(chain.model, removed.choices, statistics, Compensation::kMean);
  const Result<void> checked = check_names(removed.model.graph);
  EXPECT_TRUE(checked) << checked.error().message;
  return removed;
}

const Constant& weight(const Model& model, const std::string& name) { return *model.graph.initializers.at(name); }

TEST(RemoveChannels, ShrinksAllThatIsCoupledAndShiftsTheBias) {
  const Removed removed = remove_from(ChannelChain(), {8, 16});
  EXPECT_THAT(weight(removed.model, "wa").dims, ElementsAre(8, 3, 1, 1));
  for (const char* name : {"s", "o", "m", "v"}) EXPECT_THAT(weight(removed.model, name).dims, ElementsAre(8));
  EXPECT_THAT(weight(removed.model, "wb").dims, ElementsAre(16, 8, 1, 1));
  // 8 channels of mean 2 are gone.
  EXPECT_THAT(to_floats(weight(removed.model, "bb")), AllOf(SizeIs(16), Each(FloatEq(1 + 16))));
  EXPECT_THAT(weight(removed.model, "wy").dims, ElementsAre(10, 16 * 64));
  EXPECT_THAT(to_floats(weight(removed.model, "by")), AllOf(SizeIs(10), Each(FloatEq(1 + 8 * 64 * 2))));
  EXPECT_TRUE(removed.model.graph.values.empty());
}

TEST(RemoveChannels, NothingToRemoveChangesNothing) {
  const ChannelChain chain;
  const Removed removed = remove_from(chain, {16, 24});
  for (const auto& [name, constant] : chain.model.graph.initializers) EXPECT_EQ(weight(removed.model, name), *constant);
}

TEST(RemoveChannels, MakesABiasWhereThereIsNone) {
  ChannelChain chain;
  chain.model.graph.nodes[3].inputs.resize(2);
  Removed removed = remove_from(chain, {8, 16});
  const Node& conv = removed.model.graph.nodes[3];
  ASSERT_EQ(conv.inputs.size(), 3U);
  EXPECT_THAT(to_floats(weight(removed.model, conv.inputs[2])), AllOf(SizeIs(16), Each(FloatEq(16))));

  chain.model.graph.nodes[6] = node("MatMul", {"f", "wt"}, "y");
  chain.model.graph.initializers["wt"] = ones({24 * 64, 10});
  removed = remove_from(chain, {8, 16});
  const Node& sum = removed.model.graph.nodes.back();
  EXPECT_EQ(sum.op, "Add");
  EXPECT_THAT(sum.outputs, ElementsAre("y"));
  EXPECT_THAT(to_floats(weight(removed.model, sum.inputs[1])), AllOf(SizeIs(10), Each(FloatEq(8 * 64 * 2))));
}

TEST(RemoveChannels, AConstantOfOtherNodesIsCopied) {
  ChannelChain chain;
  chain.model.graph.nodes[1].inputs = {"a", "s", "s", "s", "s"};
  chain.model.graph.nodes.push_back(node("Relu", {"s"}, "z"));
  chain.model.graph.outputs.push_back({.name = "z"});
  const Removed removed = remove_from(chain, {8});
  EXPECT_THAT(weight(removed.model, "s").dims, ElementsAre(16));
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_THAT(weight(removed.model, removed.model.graph.nodes[1].inputs[i]).dims, ElementsAre(8));
  }
}

TEST(RemoveChannels, FollowsShapesAndDepthwiseFilters) {
  ChannelChain chain;
  Graph& graph = chain.model.graph;
  graph.initializers["shape"] = int64s({2}, {-1, 24 * 64});
  graph.initializers["wd"] = ones({24, 1, 1, 1});
  graph.nodes[4] = node("Conv", {"b", "wd"}, "rb", {{"group", std::int64_t{24}}});
  graph.nodes[5] = node("Reshape", {"rb", "shape"}, "f");
  const Removed removed = remove_from(chain, {16, 8});
  EXPECT_THAT(to_int64s(weight(removed.model, "shape")), ElementsAre(-1, 8 * 64));
  EXPECT_EQ(attribute_or(removed.model.graph.nodes[4], "group", std::int64_t{1}), 8);
  EXPECT_THAT(weight(removed.model, "wd").dims, ElementsAre(8, 1, 1, 1));
}

TEST(ChannelMasks, NameTheWeightsOfBothSides) {
  const ChannelChain chain;
  const Removed removed = remove_from(chain, {8});
  std::vector<bool> half(16, false);
  std::fill_n(half.begin(), 8, true);
  EXPECT_THAT(channel_masks(chain.model, removed.choices),
              ElementsAre(ChannelMask{"wa", 0, half}, ChannelMask{"wb", 1, half}));
}

}  // namespace
}  // namespace berth::models
