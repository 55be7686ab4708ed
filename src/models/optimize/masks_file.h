/// The channels that pruning left, as a file for training elsewhere.
#pragma once

#include <span>
#include <string>

#include "models/prune/remove_channels.h"

namespace berth::models {

/// A `.npz` file (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html) with an array of bools for
/// each mask, named "WEIGHT:AXIS": true for each index along that axis of the original's weight that stays. Not packed;
/// the same masks give the same bytes.
[[nodiscard]] std::string write_masks(std::span<const ChannelMask> masks);

}  // namespace berth::models
