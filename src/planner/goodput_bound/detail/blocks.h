/// The run divided into equal blocks of time (the last one may be shorter).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/core/instant.h"

namespace berth::bound::detail {

struct Blocks {
  std::int64_t end_us = 0;    ///< of the run, > 0
  std::int64_t block_us = 1;  ///< > 0

  [[nodiscard]] int count() const { return static_cast<int>((end_us + block_us - 1) / block_us); }
  [[nodiscard]] std::int64_t begin_us(int block) const { return block * block_us; }
  [[nodiscard]] std::int64_t end_of_us(int block) const { return std::min(end_us, (block + 1) * block_us); }
  /// The length of a block in seconds.
  [[nodiscard]] double length(int block) const {
    return static_cast<double>(end_of_us(block) - begin_us(block)) / static_cast<double>(kMicrosPerSecond);
  }
  /// The block of an instant; the last block for any later instant. Requires: at_us >= 0.
  [[nodiscard]] int of(std::int64_t at_us) const {
    return static_cast<int>(std::min<std::int64_t>(count() - 1, at_us / block_us));
  }
};

}  // namespace berth::bound::detail
