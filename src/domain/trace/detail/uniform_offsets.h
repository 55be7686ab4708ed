/// The requests of a second, uniformly at random in it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/core/rng.h"

namespace berth::detail {

/// Draws the offsets of a second's requests from its beginning; keeps the memory that sorting needs.
class UniformOffsets {
 public:
  /// Puts `count` independent draws from [0, 10^6) into `out`, ascending. O(count) on average: about as many buckets as
  /// draws, and an insertion sort within buckets. Requires: 0 <= count <= INT32_MAX.
  void draw(Rng rng, std::int64_t count, std::vector<std::uint32_t>& out);

 private:
  std::vector<std::uint32_t> unsorted_;
  std::vector<std::uint32_t> bucket_ends_;
};

}  // namespace berth::detail
