/// Which channels of a model can be removed together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"

namespace berth::models {

/// Where a tensor holds channels: its dimension `axis` is [outer][channel][inner], row by row. A Flatten makes `inner`
/// the size of a picture.
struct ChannelAxis {
  std::size_t axis = 0;
  std::int64_t outer = 1;
  std::int64_t inner = 1;

  friend auto operator<=>(const ChannelAxis&, const ChannelAxis&) = default;
};

/// Input `input` of node `node`: a constant that holds the channels along an axis.
struct ChannelConstant {
  std::size_t node = 0;
  std::size_t input = 0;
  ChannelAxis at = {};

  friend auto operator<=>(const ChannelConstant&, const ChannelConstant&) = default;
};

/// Input `input` of node `node` is a shape, and its entry `entry` is `width` times the number of channels.
struct ChannelEntry {
  std::size_t node = 0;
  std::size_t input = 0;
  std::size_t entry = 0;
  std::int64_t width = 1;

  friend auto operator<=>(const ChannelEntry&, const ChannelEntry&) = default;
};

/// Attribute `group` of the depthwise Conv `node` is `width` times the number of channels.
struct ChannelDepthwise {
  std::size_t node = 0;
  std::int64_t width = 1;

  friend auto operator<=>(const ChannelDepthwise&, const ChannelDepthwise&) = default;
};

/// A Conv, Gemm or MatMul that sums over the channels of `value`, its first input.
struct ChannelConsumer {
  std::size_t node = 0;
  std::string value = {};
  ChannelAxis at = {};         ///< in `value`
  ChannelAxis weight_at = {};  ///< in its second input

  friend auto operator<=>(const ChannelConsumer&, const ChannelConsumer&) = default;
};

/// A Conv, Gemm or MatMul that makes the channels.
struct ChannelProducer {
  std::size_t node = 0;
  ChannelAxis weight_at = {};  ///< in its second input

  friend auto operator<=>(const ChannelProducer&, const ChannelProducer&) = default;
};

/// Channels that can only be removed together, and all that changes with them. Indices are of the nodes of the graph
/// that it was made for.
struct ChannelGroup {
  std::string name = {};  ///< of the first node that makes the channels, or of its output
  std::int64_t channels = 0;
  std::vector<ChannelProducer> producers = {};
  std::vector<ChannelConsumer> consumers = {};
  std::vector<ChannelConstant> constants = {};  ///< also the weights of producers and consumers
  std::vector<ChannelEntry> entries = {};
  std::vector<ChannelDepthwise> depthwise = {};
  std::vector<std::string> values = {};                ///< between nodes: those that hold the channels
  std::optional<std::string> left_out = std::nullopt;  ///< why the channels cannot be removed
};

/// All groups, in the order of the nodes that first make their channels; those that cannot be pruned have a reason.
///
/// Channels are the outputs of a Conv and the columns of a Gemm or MatMul with constant weights. They go through
/// operators that treat each channel alike (elementwise, pooling, BatchNormalization, depthwise Conv, Reshape,
/// Transpose ...) until a Conv, Gemm or MatMul sums over them; what meets in an elementwise operator is one group. O(n
/// log n) for n inputs of nodes.
[[nodiscard]] std::vector<ChannelGroup> channel_groups(const Model& model, const ValueShapes& shapes);

}  // namespace berth::models
