/// Weights as integers of 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/graph/constant.h"

namespace berth::models {

/// How the scale of a channel is chosen. kLargest: the largest weight gets the largest integer. kLeastError: the least
/// squared error of the weights, which may cut off the largest.
enum class WeightScale : std::uint8_t { kLargest, kLeastError };

struct WeightOptions {
  std::optional<std::size_t> channel_axis = std::nullopt;  ///< nothing: one scale for all
  int bits = 8;                                            ///< 7 or 8
  WeightScale scale = WeightScale::kLargest;
  float factor = 1;  ///< the weights are multiplied by it first
};

struct QuantizedWeights {
  std::vector<std::int8_t> values;  ///< in the order of the weights
  std::vector<float> scales;        ///< one per channel; the zero point is 0

  friend bool operator==(const QuantizedWeights&, const QuantizedWeights&) = default;
};

/// `bias` (one per channel, or none) is to be an integer of 32 bits times `input_scale` and the channel's scale: where
/// that would pass 2^30, which leaves room for the sum of products, the channel gets a larger scale. A channel of
/// zeros gets the scale 1, or one at which its bias is exact to 24 bits. Requires: finite floats; input_scale > 0.
[[nodiscard]] QuantizedWeights quantize_weights(const Constant& weights, const WeightOptions& options,
                                                std::span<const float> bias, float input_scale);

/// The bias as multiples of input_scale * scale. Requires: one scale per value.
[[nodiscard]] std::vector<std::int32_t> quantize_bias(std::span<const float> bias, std::span<const float> scales,
                                                      float input_scale);

/// What the scale of the bias is: the product, as engines compute it.
[[nodiscard]] std::vector<float> bias_scales(std::span<const float> scales, float input_scale);

}  // namespace berth::models
