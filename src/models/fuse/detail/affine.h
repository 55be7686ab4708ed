/// Nodes that multiply and add a constant per channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/fuse/detail/sweep.h"
#include "models/graph/graph.h"

namespace berth::models {

/// y = factors * x + offsets, channel by channel: as many of each as there are channels.
struct Affine {
  std::vector<double> factors;
  std::vector<double> offsets;
};

/// Where the channels of a value are.
struct Channels {
  std::int64_t count = 0;
  /// From the back: 1 is the last dimension.
  std::size_t axis_from_back = 1;
  /// Nothing: not known.
  std::optional<std::size_t> rank = std::nullopt;
};

/// Whether affine_of can give anything: to be asked before large weights are read.
[[nodiscard]] bool may_be_affine(const Sweep& sweep, const Node& node);

/// What `node` does to the value `input`. Nothing: it is not BatchNormalization as in inference, nor Mul, Div, Add or
/// Sub with a constant that is the same within a channel and makes no other dimension larger.
[[nodiscard]] std::optional<Affine> affine_of(const Sweep& sweep, const Node& node, const std::string& input,
                                              const Channels& channels);

}  // namespace berth::models
