/// How operators treat channels.
#pragma once

#include <cstdint>

#include "models/graph/graph.h"

namespace berth::models {

enum class ChannelRule : std::uint8_t {
  kMixes,      ///< needs all channels, or is not known
  kUnary,      ///< the first input, element by element
  kBroadcast,  ///< all inputs, element by element
  kPool,       ///< each picture by itself; the channels are dimension 1
  kNormalise,  ///< likewise, with constants for each channel
  kReshape,    ///< the same elements in other dimensions
  kTranspose,
  kReduce,
  kPad,
  kResize,
  kSlice,
  kShape,
  kConv,
  kGemm,
  kMatMul,
};

[[nodiscard]] ChannelRule channel_rule(const Node& node);

}  // namespace berth::models
