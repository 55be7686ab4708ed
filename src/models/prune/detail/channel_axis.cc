#include "models/prune/detail/channel_axis.h"

namespace berth::models {

/// In row order, elements stand as [...][channel][block]. A dimension of `to` holds the channels whole if what stands
/// right of it divides the block, and its size is a multiple of all channels with the rest of the block.
std::optional<ChannelAxis> reshaped(const ChannelAxis& at, std::int64_t channels, std::span<const std::int64_t> from,
                                    std::span<const std::int64_t> to) {
  std::int64_t block = at.inner;
  for (std::size_t i = at.axis + 1; i < from.size(); ++i) {
    if (from[i] <= 0) return std::nullopt;
    block *= from[i];
  }
  std::int64_t right = 1;
  for (std::size_t i = to.size(); i-- > 0;) {
    if (block % right != 0) return std::nullopt;
    const std::int64_t inner = block / right;
    if (to[i] <= 0) return std::nullopt;
    if (to[i] % (channels * inner) == 0) {
      return ChannelAxis{.axis = i, .outer = to[i] / (channels * inner), .inner = inner};
    }
    right *= to[i];
  }
  return std::nullopt;
}

}  // namespace berth::models
