#include "models/int8/quantize_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/core/rng.h"

namespace berth::models {
namespace {

TEST(QuantizeWeights, PerChannelByHand) {
  // Columns: largest 127 and 2.
  const ConstantPtr weights = floats({2, 2}, {127, -2, 63.4F, 1});
  const QuantizedWeights quantized = quantize_weights(*weights, {.channel_axis = 1}, {}, 1);
  EXPECT_EQ(quantized.scales, (std::vector<float>{1, 2.0F / 127}));
  EXPECT_EQ(quantized.values, (std::vector<std::int8_t>{127, -127, 63, 64}));
}

TEST(QuantizeWeights, OneScaleForAll) {
  const QuantizedWeights quantized = quantize_weights(*floats({1, 2, 1}, {-127, 2}), {}, {}, 1);
  EXPECT_EQ(quantized.scales, (std::vector<float>{1}));
  EXPECT_EQ(quantized.values, (std::vector<std::int8_t>{-127, 2}));
}

TEST(QuantizeWeights, ChannelsOfAConvolutionAreTheFirstAxis) {
  const ConstantPtr weights = floats({2, 1, 1, 2}, {127, -1, 254, 2});
  const QuantizedWeights quantized = quantize_weights(*weights, {.channel_axis = 0}, {}, 1);
  EXPECT_EQ(quantized.scales, (std::vector<float>{1, 2}));
  EXPECT_EQ(quantized.values, (std::vector<std::int8_t>{127, -1, 127, 1}));
}

TEST(QuantizeWeights, SevenBitsAndAFactor) {
  const QuantizedWeights quantized =
      quantize_weights(*floats({1, 2}, {6.3F, -3.1F}), {.channel_axis = 0, .bits = 7, .factor = 10}, {}, 1);
  EXPECT_EQ(quantized.scales, (std::vector<float>{1}));
  EXPECT_EQ(quantized.values, (std::vector<std::int8_t>{63, -31}));
}

TEST(QuantizeWeights, AChannelOfZerosKeepsItsBias) {
  const std::vector<float> bias = {0, 0.3F};
  const QuantizedWeights quantized = quantize_weights(*floats({2, 2}, {0, 0, 0, 0}), {.channel_axis = 0}, bias, 0.5F);
  EXPECT_EQ(quantized.scales.front(), 1);
  const std::vector<std::int32_t> integers = quantize_bias(bias, quantized.scales, 0.5F);
  EXPECT_EQ(integers.front(), 0);
  EXPECT_NEAR(static_cast<double>(integers[1]) * bias_scales(quantized.scales, 0.5F)[1], 0.3, 1e-7);
}

TEST(QuantizeWeights, ABiasThatWouldNotFitIn32BitsWidensTheScale) {
  const std::vector<float> bias = {1000};
  const QuantizedWeights quantized = quantize_weights(*floats({1, 1}, {1e-9F}), {.channel_axis = 0}, bias, 1e-3F);
  const std::vector<std::int32_t> integers = quantize_bias(bias, quantized.scales, 1e-3F);
  EXPECT_LE(std::abs(integers.front()), (1 << 30) + 64);
  EXPECT_NEAR(static_cast<double>(integers.front()) * bias_scales(quantized.scales, 1e-3F).front(), 1000, 1e-3);
}

TEST(QuantizeWeights, DenormalWeightsGiveAScaleThatIsNone) {
  const float smallest = std::numeric_limits<float>::denorm_min();
  const QuantizedWeights quantized = quantize_weights(*floats({1, 1}, {smallest}), {.channel_axis = 0}, {}, 1);
  EXPECT_GE(quantized.scales.front(), std::numeric_limits<float>::min());
  EXPECT_EQ(quantized.values.front(), 0);
}

TEST(QuantizeWeights, TheLargestScaleLeavesHalfAStepAtMostAndTheLeastErrorIsNotWorse) {
  Rng rng(5);
  std::vector<float> values;
  for (int i = 0; i < 300; ++i) values.push_back(static_cast<float>(std::pow(2 * rng.unit() - 1, 5)));
  const ConstantPtr weights = floats({3, 100}, values);
  const auto error_of = [&](const QuantizedWeights& quantized, double& largest_in_steps) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double scale = quantized.scales[i / 100];
      const double difference = values[i] - quantized.values[i] * scale;
      largest_in_steps = std::max(largest_in_steps, std::abs(difference) / scale);
      sum += difference * difference;
    }
    return sum;
  };
  for (const int bits : {7, 8}) {
    double steps = 0;
    double unused = 0;
    const double largest = error_of(quantize_weights(*weights, {.channel_axis = 0, .bits = bits}, {}, 1), steps);
    const double least = error_of(
        quantize_weights(*weights, {.channel_axis = 0, .bits = bits, .scale = WeightScale::kLeastError}, {}, 1),
        unused);
    EXPECT_LE(steps, 0.5001);
    EXPECT_LE(least, largest);
  }
}

}  // namespace
}  // namespace berth::models
