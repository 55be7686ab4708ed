#include "models/prune/channel_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "models/graph/tensors.h"
#include "models/prune/detail/channel_moments.h"
#include "models/prune/detail/symmetric.h"
#include "models/prune/testing/channel_chain.h"

namespace berth::models {
namespace {

using berth::testing::node;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

Tensor tensor(Dims dims, const std::vector<float>& values) {
  return tensor_of(*floats(std::move(dims), values), "v").value();
}

/// Channels of rows, as a Gemm takes them.
ChannelSpread spread_of(std::int64_t channels, const std::vector<float>& values) {
  const Tensor value = tensor({static_cast<std::int64_t>(values.size()) / channels, channels}, values);
  ChannelMoments moments({.axis = 1}, channels);
  EXPECT_TRUE(moments.add_mean(value));
  moments.add_spread(value);
  return moments.spread();
}

/// "f" with 4 channels, a Gemm makes them and one sums over them with `weights`.
std::vector<ChannelStep> order_of(const ChannelSpread& spread, const std::vector<float>& weights, Compensation how) {
  Graph graph{.nodes = {node("Gemm", {"x", "w"}, "f"), node("Gemm", {"f", "v"}, "y")},
              .initializers = {{"w", floats({1, 4}, {1, 1, 1, 1})}, {"v", floats({4, 1}, weights)}},
              .outputs = {{.name = "y"}}};
  const ChannelGroup group{
      .name = "f", .channels = 4, .producers = {{0, {.axis = 1}}}, .consumers = {{1, "f", {.axis = 1}, {}}}};
  return channel_order(graph, group, {.spreads = {{"f", spread}}}, how);
}

// The mean of each channel is 0. The first two are alike; the third varies little, and the last is apart.
const std::vector<float> kRows = {1, 2, 0.1F, 3, -1, -2, 0.1F, 3, 1, 2, -0.1F, -3, -1, -2, -0.1F, -3};

TEST(ChannelOrder, MeansCountVarianceAndWeights) {
  const std::vector<ChannelStep> order = order_of(spread_of(4, kRows), {1, 1, 1, 0.01F}, Compensation::kMean);
  ASSERT_EQ(order.size(), 4U);
  EXPECT_EQ(order[0].channel, 3U);  // the weight is small
  EXPECT_EQ(order[1].channel, 2U);  // the variance is
  EXPECT_EQ(order[2].channel, 0U);
  EXPECT_LT(order[0].error, order[1].error);
}

TEST(ChannelOrder, WhatOthersPredictGoesFirst) {
  const std::vector<ChannelStep> order = order_of(spread_of(4, kRows), {1, 1, 3, 1}, Compensation::kReconstruct);
  // The third follows the last, and the first the second: their weights matter more when both have to be carried.
  EXPECT_LT(order[1].error, 0.01);
  EXPECT_GT(order[2].error, 0.1);
  EXPECT_THAT((std::vector<std::size_t>{order[0].channel, order[1].channel}), ::testing::UnorderedElementsAre(0U, 2U));
}

TEST(StandIns, AChannelIsReplacedByThoseThatPredictIt) {
  const std::vector<double> shares = stand_ins(spread_of(4, kRows), {false, true, false, true});
  EXPECT_THAT(shares, Pointwise(DoubleNear(0.01), std::vector<double>{0.5, 0, 0, 0.0333}));
}

TEST(InverseOf, TimesTheMatrixIsOne) {
  const std::vector<double> matrix = {4, 1, 2, 1, 3, 0.5, 2, 0.5, 5};
  const std::vector<double> inverse = inverse_of(matrix, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += matrix[i * 3 + k] * inverse[k * 3 + j];
      EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-12);
    }
  }
}

TEST(ChannelMoments, CentreOnWhatOneWeightMeets) {
  // Two channels of two elements. A Conv has one weight for both elements of a channel, a Gemm after a Flatten has two.
  const std::vector<float> values = {1, 3, 10, 20, 1, 3, 10, 20};
  ChannelMoments picture({.axis = 1}, 2);
  ASSERT_TRUE(picture.add_mean(tensor({2, 2, 2}, values)));
  picture.add_spread(tensor({2, 2, 2}, values));
  EXPECT_THAT(picture.means(), ElementsAre(1, 3, 10, 20));
  EXPECT_THAT(picture.spread().covariance, ElementsAre(1, 5, 5, 25));
  ChannelMoments flat({.axis = 1, .inner = 2}, 2);
  ASSERT_TRUE(flat.add_mean(tensor({2, 4}, values)));
  flat.add_spread(tensor({2, 4}, values));
  EXPECT_THAT(flat.spread().covariance, ElementsAre(0, 0, 0, 0));
  EXPECT_FALSE(flat.add_mean(tensor({2, 3}, {1, 2, 3, 4, 5, 6})));
}

TEST(FilterInputs, ThePaddingMeetsNothing) {
  const Node conv = node("Conv", {"x", "w"}, "y", {{"pads", std::vector<std::int64_t>{1, 1}}});
  // Of three places of a filter of 3 elements over [3, 6, 9]: the first element meets 0, 3, 6.
  EXPECT_THAT(filter_inputs(conv, {1, 1, 3}, {3, 6, 9}, {1, 3}), ElementsAre(3, 6, 5));
  const Node same = node("Conv", {"x", "w"}, "y", {{"auto_pad", std::string("SAME_UPPER")}});
  EXPECT_THAT(filter_inputs(same, {1, 1, 2}, {3, 6, 9}, {1, 3}), ElementsAre(6, 5));
}

}  // namespace
}  // namespace berth::models
