/// Parts of constants.
#pragma once

#include <vector>

#include "models/graph/constant.h"
#include "models/prune/channel_groups.h"

namespace berth::models {

/// Which indices of the axis belong to kept channels.
[[nodiscard]] std::vector<bool> kept_along(const ChannelAxis& at, const std::vector<bool>& kept);

/// The constant without the other channels. Requires: no 4-bit elements; as many indices along the axis as there are
/// in all.
[[nodiscard]] Constant sliced(const Constant& constant, const ChannelAxis& at, const std::vector<bool>& kept);

}  // namespace berth::models
