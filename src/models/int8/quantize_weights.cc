#include "models/int8/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

constexpr double kBiasIntegerMax = 1 << 30;    // half of the 32 bits: the rest is for the sum of products
constexpr double kBiasIntegerExact = 1 << 24;  // of a channel of zeros: what a float's digits hold
constexpr int kScaleSteps = 32;                // scales compared, down to half of that for the largest weight
constexpr float kScaleMin = 1e-30F;            // its product with the scale of an input is no denormal number

/// The weights of a channel lie `stride` apart in runs of one: index = (outer * channels + channel) * inner + i.
struct ChannelLayout {
  std::size_t outer = 1;
  std::size_t channels = 1;
  std::size_t inner = 1;
};

ChannelLayout layout_of(const Dims& dims, std::optional<std::size_t> axis) {
  const auto count = static_cast<std::size_t>(count_of(dims));
  if (!axis) return {.outer = 1, .channels = 1, .inner = count};
  ENSURE(*axis < dims.size());
  ChannelLayout layout;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto size = static_cast<std::size_t>(dims[i]);
    if (i < *axis) layout.outer *= size;
    if (i == *axis) layout.channels = size;
    if (i > *axis) layout.inner *= size;
  }
  return layout;
}

std::vector<float> channel_of(std::span<const float> weights, const ChannelLayout& layout, std::size_t channel) {
  std::vector<float> values;
  values.reserve(layout.outer * layout.inner);
  for (std::size_t outer = 0; outer < layout.outer; ++outer) {
    const auto run = weights.subspan((outer * layout.channels + channel) * layout.inner, layout.inner);
    values.insert(values.end(), run.begin(), run.end());
  }
  return values;
}

/// To the nearest integer, ties to even, as nearbyint, which is a call per weight. Adding 1.5 * 2^23 leaves no digit
/// for a fraction.
float nearest(float weight, float scale, float integer_max) {
  constexpr float kNoFraction = 12582912;
  const float place = std::clamp(weight / scale, -integer_max, integer_max);
  return (place + kNoFraction) - kNoFraction;
}

double channel_error(std::span<const float> weights, float scale, float integer_max) {
  double sum = 0;
  for (const float weight : weights) {
    const double difference = static_cast<double>(weight) - nearest(weight, scale, integer_max) * scale;
    sum += difference * difference;
  }
  return sum;
}

float least_error_scale(std::span<const float> weights, float scale_largest, float integer_max) {
  float best = scale_largest;
  double least = channel_error(weights, best, integer_max);
  for (int step = 1; step < kScaleSteps; ++step) {
    const float scale = scale_largest * (1 - 0.5F * static_cast<float>(step) / kScaleSteps);
    const double error = channel_error(weights, scale, integer_max);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

float channel_scale(std::span<const float> weights, const WeightOptions& options, float integer_max) {
  float largest = 0;
  for (const float weight : weights) largest = std::max(largest, std::abs(weight));
  if (largest == 0) return 0;
  const float scale = std::max(largest / integer_max, kScaleMin);
  return options.scale == WeightScale::kLargest ? scale : least_error_scale(weights, scale, integer_max);
}

/// `scale` is 0 for a channel of zeros.
float scale_for_bias(float scale, double bias, double input_scale) {
  if (scale == 0 && bias == 0) return 1;
  const double integer_max = scale == 0 ? kBiasIntegerExact : kBiasIntegerMax;
  const auto needed = static_cast<float>(std::abs(bias) / (integer_max * input_scale));
  return std::max({scale, std::min(needed, std::numeric_limits<float>::max()), kScaleMin});
}

}  // namespace

QuantizedWeights quantize_weights(const Constant& weights, const WeightOptions& options, std::span<const float> bias,
                                  float input_scale) {
  ENSURE(options.bits == 7 || options.bits == 8);
  std::vector<float> values = to_floats(weights);
  for (float& value : values) value *= options.factor;
  const ChannelLayout layout = layout_of(weights.dims, options.channel_axis);
  ENSURE(bias.empty() || bias.size() == layout.channels);
  const auto integer_max = static_cast<float>((1 << (options.bits - 1)) - 1);

  QuantizedWeights quantized = {.values = std::vector<std::int8_t>(values.size()), .scales = {}};
  for (std::size_t channel = 0; channel < layout.channels; ++channel) {
    const float own = channel_scale(channel_of(values, layout, channel), options, integer_max);
    const float scale = scale_for_bias(own, bias.empty() ? 0 : bias[channel], input_scale);
    quantized.scales.push_back(scale);
    for (std::size_t outer = 0; outer < layout.outer; ++outer) {
      const std::size_t first = (outer * layout.channels + channel) * layout.inner;
      for (std::size_t i = first; i < first + layout.inner; ++i) {
        quantized.values[i] = static_cast<std::int8_t>(nearest(values[i], scale, integer_max));
      }
    }
  }
  return quantized;
}

std::vector<std::int32_t> quantize_bias(std::span<const float> bias, std::span<const float> scales, float input_scale) {
  ENSURE(bias.size() == scales.size());
  const std::vector<float> products = bias_scales(scales, input_scale);
  std::vector<std::int32_t> integers;
  integers.reserve(bias.size());
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const double place = std::nearbyint(static_cast<double>(bias[i]) / products[i]);
    integers.push_back(static_cast<std::int32_t>(std::clamp(place, -2 * kBiasIntegerMax + 1, 2 * kBiasIntegerMax - 1)));
  }
  return integers;
}

std::vector<float> bias_scales(std::span<const float> scales, float input_scale) {
  std::vector<float> products;
  products.reserve(scales.size());
  for (const float scale : scales) products.push_back(scale * input_scale);
  return products;
}

}  // namespace berth::models
