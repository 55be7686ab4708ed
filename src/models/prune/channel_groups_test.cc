#include "models/prune/channel_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "models/prune/detail/channel_axis.h"
#include "models/prune/testing/channel_chain.h"

namespace berth::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using berth::testing::node;
using berth::testing::ones;
using Chain = berth::testing::ChannelChain;

TEST(ChannelGroups, FollowsChannelsToTheNodesThatSumOverThem) {
  const std::vector<ChannelGroup> groups = Chain().groups();
  ASSERT_EQ(groups.size(), 3U);
  const ChannelGroup& a = groups[0];
  EXPECT_FALSE(a.left_out) << *a.left_out;
  EXPECT_EQ(a.channels, 16);
  EXPECT_THAT(a.producers, ElementsAre(ChannelProducer{0, {.axis = 0}}));
  EXPECT_THAT(a.consumers, ElementsAre(ChannelConsumer{3, "r", {.axis = 1}, {.axis = 1}}));
  EXPECT_THAT(a.constants,
              ElementsAre(ChannelConstant{0, 1, {}}, ChannelConstant{1, 1, {}}, ChannelConstant{1, 2, {}},
                          ChannelConstant{1, 3, {}}, ChannelConstant{1, 4, {}}, ChannelConstant{3, 1, {.axis = 1}}));
  EXPECT_THAT(a.values, ElementsAre("a", "n", "r"));
  const ChannelGroup& b = groups[1];
  EXPECT_FALSE(b.left_out) << *b.left_out;
  EXPECT_THAT(b.consumers, ElementsAre(ChannelConsumer{6, "f", {1, 1, 64}, {1, 1, 64}}));
  EXPECT_EQ(groups[2].left_out, "'y' is an output of the model");
}

TEST(ChannelGroups, AResidualSumIsOneGroupAndAnInputIsInNone) {
  Chain chain;
  Graph& graph = chain.model.graph;
  graph.initializers["wb"] = ones({16, 16, 1, 1});
  graph.initializers["bb"] = ones({16});
  graph.initializers["wy"] = ones({10, 16 * 64});
  graph.nodes[4] = node("Add", {"r", "b"}, "rb");
  for (const char* name : {"b", "rb"}) chain.image(name, 16);
  chain.shapes["f"].dims = {-1, 16 * 64};
  const std::vector<ChannelGroup> groups = chain.groups();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].producers.size(), 2U);
  EXPECT_EQ(groups[0].consumers.size(), 2U);
  EXPECT_FALSE(groups[0].left_out);

  graph.nodes[4] = node("Add", {"big", "b"}, "rb");
  graph.inputs.push_back({.name = "big"});
  chain.image("big", 16);
  EXPECT_THAT(chain.groups()[1].left_out.value_or(""), HasSubstr("'big', whose channels stay"));
}

TEST(ChannelGroups, WhatIsNotUnderstoodIsLeftOutWithTheReason) {
  const auto reason = [](const auto& change) {
    Chain chain;
    change(chain.model.graph);
    return chain.groups()[0].left_out.value_or("");
  };
  EXPECT_EQ(reason([](Graph& graph) { graph.nodes[2] = node("Softmax", {"n"}, "r"); }),
            "Softmax 'r' takes all channels");
  EXPECT_EQ(reason([](Graph& graph) { graph.nodes[2].domain = "my.domain"; }), "Relu 'r' takes all channels");
  EXPECT_EQ(reason([](Graph& graph) { graph.outputs.push_back({.name = "n"}); }), "'n' is an output of the model");
  EXPECT_THAT(reason([](Graph& graph) { graph.inputs.push_back({.name = "wb"}); }), HasSubstr("its weights"));
  EXPECT_THAT(reason([](Graph& graph) { graph.nodes[3].attributes["group"] = std::int64_t{2}; }),
              HasSubstr("groups of channels"));
  EXPECT_THAT(reason([](Graph& graph) {
                graph.nodes.push_back(node("Conv", {"x2", "wb"}, "second"));
                graph.inputs.push_back({.name = "x2"});
              }),
              HasSubstr("constant of its own"));
  EXPECT_THAT(reason([](Graph& graph) {
                const Graph inside{.nodes = {node("Abs", {"r"}, "z")}, .outputs = {{.name = "z"}}};
                Node branch = node("If", {"x"}, "if");
                branch.attributes.emplace("then_branch", std::make_shared<const Graph>(inside));
                graph.nodes.push_back(branch);
              }),
              HasSubstr("takes 'r' into an inner graph"));
}

TEST(ChannelGroups, AShapeWithTheNumberOfChannelsChangesWithIt) {
  const auto entries = [](std::vector<std::int64_t> wanted) {
    Chain chain;
    const auto rank = static_cast<std::int64_t>(wanted.size());
    chain.model.graph.initializers["shape"] = int64s({rank}, wanted);
    chain.model.graph.nodes[5] = node("Reshape", {"rb", "shape"}, "f");
    const ChannelGroup b = chain.groups()[1];
    EXPECT_FALSE(b.left_out) << b.left_out.value_or("");
    return b.entries;
  };
  EXPECT_THAT(entries({0, -1}), ElementsAre());
  EXPECT_THAT(entries({-1, 24 * 64}), ElementsAre(ChannelEntry{5, 1, 1, 64}));
}

TEST(Reshaped, FindsTheDimensionThatHoldsAllChannels) {
  using Dims = std::vector<std::int64_t>;
  const auto at = [](ChannelAxis from, const Dims& dims, const Dims& to) { return reshaped(from, 8, dims, to); };
  EXPECT_EQ(at({.axis = 1}, {-1, 8, 3, 5}, {-1, 120}), (ChannelAxis{1, 1, 15}));
  EXPECT_EQ(at({.axis = 3}, {-1, 3, 5, 8}, {-1, 120}), (ChannelAxis{1, 15, 1}));
  EXPECT_EQ(at({.axis = 2}, {-1, 7, 8}, {-1, 8}), (ChannelAxis{1, 1, 1}));
  EXPECT_EQ(at({.axis = 1}, {-1, 8, 1, 1}, {-1, 8}), (ChannelAxis{1, 1, 1}));
  EXPECT_EQ(at({.axis = 1}, {-1, 8}, {-1, 8, 1, 1}), (ChannelAxis{1, 1, 1}));
  EXPECT_EQ(at({1, 1, 15}, {-1, 120}, {-1, 8, 3, 5}), (ChannelAxis{1, 1, 1}));
  EXPECT_EQ(at({.axis = 1}, {-1, 8, 3, 5}, {-1, 24, 5}), (ChannelAxis{1, 1, 3}));
  EXPECT_EQ(at({.axis = 1}, {-1, 8, 3, 5}, {-1, 4, 30}), std::nullopt);
  EXPECT_EQ(at({.axis = 1}, {-1, 8, -1, 5}, {-1, 40}), std::nullopt);
  EXPECT_EQ(at({.axis = 1}, {2, 8, 3, 5}, {-1, -1}), std::nullopt);
}

}  // namespace
}  // namespace berth::models
