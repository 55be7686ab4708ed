#include "models/prune/choose_channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/prune/testing/channel_chain.h"

namespace berth::models {
namespace {

using berth::testing::ChannelChain;
using berth::testing::ones;
using ::testing::HasSubstr;

/// The chain with 64 and 64 channels, and an engine that is made up from the numbers of channels left.
class ChooseChannels : public ::testing::Test {
 protected:
  ChooseChannels() {
    Graph& graph = chain_.model.graph;
    graph.initializers["wa"] = ones({64, 3, 1, 1});
    for (const char* name : {"s", "o", "m", "v"}) graph.initializers[name] = ones({64});
    graph.initializers["wb"] = ones({64, 64, 1, 1});
    graph.initializers["bb"] = ones({64});
    graph.initializers["wy"] = ones({10, 64 * 64});
    for (const char* name : {"a", "n", "r", "b", "rb"}) chain_.image(name, 64);
    chain_.shapes["f"].dims = {-1, 64 * 64};
    groups_ = chain_.groups();
    for (const char* name : {"r", "f"}) {
      statistics_.spreads[name] = {.channels = 64, .variance = std::vector<double>(64, 1.0)};
    }
    statistics_.inputs = {{3, std::vector<double>(64, 0.0)}, {6, std::vector<double>(64 * 64, 0.0)}};
    trials_ = {.loss = [this](const Model& model) -> Result<double> { return loss_(first(model), second(model)); },
               .sqnr_db = [this](const Model& model) -> Result<double> {
                 return -10 * std::log10(loss_(first(model), second(model)) + 1e-9);
               },
               .time_ratio = [this](const Model& model, const Model& than) -> Result<double> {
                 return time_(first(model), second(model)) / time_(first(than), second(than));
               },
               .has_time = [this] { return trials_left_-- > 0; }};
  }

  static double first(const Model& model) { return static_cast<double>(model.graph.initializers.at("wa")->dims[0]); }
  static double second(const Model& model) { return static_cast<double>(model.graph.initializers.at("wb")->dims[0]); }

  [[nodiscard]] Result<PruneOutcome> choose(PruneOptions options = {.loss_max = 0.01}) const {
    return choose_channels(chain_.model, groups_, statistics_, trials_, options);
  }

  ChannelChain chain_;
  std::vector<ChannelGroup> groups_;
  ChannelStatistics statistics_;
  Trials trials_;
  /// The second group is ten times as sensitive.
  std::function<double(double, double)> loss_ = [](double a, double b) {
    return ((64 - a) * (64 - a) + 10 * (64 - b) * (64 - b)) * 5e-6;
  };
  std::function<double(double, double)> time_ = [](double a, double b) { return 10 + a * b / 8 + a + b; };
  int trials_left_ = 1000;
};

TEST_F(ChooseChannels, TakesTheMostFromTheGroupThatMattersLeast) {
  const Result<PruneOutcome> outcome = choose();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->is_complete);
  EXPECT_LE(outcome->loss, 0.01);
  EXPECT_EQ(outcome->groups[0].kept, 24);  // of 16: 0.0115
  EXPECT_EQ(outcome->groups[1].kept, 64);
  EXPECT_EQ(outcome->groups[0].trials.size(), 3U);
  EXPECT_EQ(outcome->groups[0].trials[0].kept, 48);
  EXPECT_EQ(first(outcome->model), 24);
  ASSERT_EQ(outcome->masks.size(), 2U);
  EXPECT_EQ(outcome->masks[0].weight, "wa");
  EXPECT_EQ(outcome->groups[2].left_out, "'y' is an output of the model");

  const Result<PruneOutcome> more = choose({.loss_max = 0.03});
  ASSERT_TRUE(more);
  EXPECT_LE(more->loss, 0.03);
  EXPECT_EQ(more->groups[0].kept, 16);
  EXPECT_LT(more->groups[1].kept, 64);
  EXPECT_EQ(more->groups[1].kept % 8, 0);
}

TEST_F(ChooseChannels, NumbersThatTheEngineHandlesBadlyArePassedOver) {
  // Only multiples of 32 are fast.
  time_ = [](double a, double b) { return 10 + std::ceil(a / 32) * std::ceil(b / 32); };
  loss_ = [](double a, double b) { return (64 - a + 64 - b) * 1e-4; };
  const Result<PruneOutcome> outcome = choose();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->groups[0].kept, 32);
  EXPECT_EQ(outcome->groups[1].kept, 32);
}

TEST_F(ChooseChannels, WhereNothingHelpsTheModelStays) {
  loss_ = [](double a, double b) { return a + b < 128 ? 0.5 : 0.0; };
  Result<PruneOutcome> outcome = choose();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(first(outcome->model) + second(outcome->model), 128);
  EXPECT_TRUE(outcome->masks.empty());

  loss_ = [](double, double) { return 0.0; };
  time_ = [](double, double) { return 1.0; };
  outcome = choose();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(first(outcome->model) + second(outcome->model), 128);
}

TEST_F(ChooseChannels, EndsWithTheTime) {
  trials_left_ = 0;
  Result<PruneOutcome> outcome = choose();
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->is_complete);
  EXPECT_EQ(outcome->groups[0].left_out, "not tried: the time was over");
  // What was learnt in time is used.
  trials_left_ = 2;
  outcome = choose({.loss_max = 0.02});
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->is_complete);
  EXPECT_LT(first(outcome->model), 64);
  EXPECT_LE(outcome->loss, 0.02);
}

TEST_F(ChooseChannels, WhatTheEngineRefusesIsLeftOut) {
  trials_.loss = [this](const Model& model) -> Result<double> {
    if (second(model) < 64) return invalid("no such Conv");
    return loss_(first(model), second(model));
  };
  const Result<PruneOutcome> outcome = choose();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->groups[0].kept, 24);
  EXPECT_EQ(outcome->groups[1].left_out, "no such Conv");

  trials_.loss = [](const Model&) -> Result<double> { return fail(ErrorCode::kInterrupted, "stopped"); };
  const Result<PruneOutcome> stopped = choose();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kInterrupted);
}

TEST_F(ChooseChannels, SmallGroupsStayWhole) {
  const Result<PruneOutcome> outcome = choose({.loss_max = 1, .channels_min = 65});
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->groups[0].left_out.value_or(""), HasSubstr("fewer than 65 channels"));
  EXPECT_EQ(outcome->groups[0].kept, 64);
}

}  // namespace
}  // namespace berth::models
