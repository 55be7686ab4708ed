/// Takes channels out of a model.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "models/graph/graph.h"
#include "models/prune/channel_groups.h"
#include "models/prune/channel_order.h"
#include "models/prune/channel_statistics.h"

namespace berth::models {

/// Which channels of a group stay.
struct ChannelChoice {
  const ChannelGroup* group = nullptr;  ///< of the model, and not left out
  std::vector<bool> kept = {};          ///< one per channel, at least one of them true
};

/// The model without the other channels: smaller weights, biases, parameters and shapes. What is said of the values
/// that held them is dropped; inputs and outputs stay as they are.
///
/// The mean output of each consumer stays: it goes into its bias, which is made where there is none (an Add after a
/// MatMul). At the border of a padded Conv a filter meets fewer elements, so one bias cannot be right everywhere: it
/// is right on average over all places. With kReconstruct the weights of kept channels change as well. A constant that
/// other nodes take too is copied for the node. Requires: each group at most once; `statistics` of all of them.
[[nodiscard]] Model remove_channels(const Model& model, std::span<const ChannelChoice> choices,
                                    const ChannelStatistics& statistics, Compensation compensation);

/// Which indices of a dimension of a weight stay.
struct ChannelMask {
  std::string weight;
  std::size_t axis = 0;
  std::vector<bool> kept = {};  ///< as long as the dimension

  friend bool operator==(const ChannelMask&, const ChannelMask&) = default;
};

/// Of the weights of all nodes that make or sum over the channels, as they are in `model`: for training with them
/// elsewhere. In the order of names and axes.
[[nodiscard]] std::vector<ChannelMask> channel_masks(const Model& model, std::span<const ChannelChoice> choices);

}  // namespace berth::models
