/// The number of elements of a shape, within what a tensor may have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace berth::serving::protocol::detail {

/// Of dimensions: more than any model has, and within JSON's levels of nesting.
inline constexpr std::size_t kRankMax = 32;
/// Dimensions of 0 count as 1 here, so that rows and bytes of rows stay small, too.
inline constexpr std::int64_t kElementCountMax = INT32_MAX;

/// The product; nothing if it is above kElementCountMax. Requires: no dimension is below 0.
[[nodiscard]] std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

}  // namespace berth::serving::protocol::detail
