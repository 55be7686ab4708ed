/// Where channels are after a tensor got another shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/prune/channel_groups.h"

namespace berth::models {

/// Elements along the axis.
[[nodiscard]] inline std::int64_t width_of(const ChannelAxis& at, std::int64_t channels) {
  return at.outer * channels * at.inner;
}

/// The place of `channels` channels after a Reshape from dimensions `from` to `to` (-1: any size), where all elements
/// of a channel are together in one dimension of `to`. Nothing: they are not, or the sizes that it depends on are
/// unknown.
[[nodiscard]] std::optional<ChannelAxis> reshaped(const ChannelAxis& at, std::int64_t channels,
                                                  std::span<const std::int64_t> from, std::span<const std::int64_t> to);

}  // namespace berth::models
