/// Numbers of columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace berth::edges::detail {

/// A stored number that should fit into an int; one that does not is damaged, and the hash will differ.
[[nodiscard]] inline int narrow(std::int64_t value) {
  return static_cast<int>(
      std::clamp<std::int64_t>(value, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

}  // namespace berth::edges::detail
