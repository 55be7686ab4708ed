/// A slice's number in the tables of a world.
#pragma once

#include <compare>
#include <cstdint>

namespace berth::world {

/// The number of a slice that is gone is reused, so it says nothing about the order of creation.
struct SliceIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(SliceIndex, SliceIndex) = default;
};

}  // namespace berth::world
