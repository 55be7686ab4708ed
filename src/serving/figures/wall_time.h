/// The wall clock, which people and other programs may set, beside the server's own, which only goes forward.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/core/instant.h"

namespace berth::serving {

class WallTime {
 public:
  /// What the wall clock shows now, since 1970. True at the first call, and if the clock was set since the last one:
  /// small differences are those of reading two clocks one after the other.
  bool learn(Instant now, Micros since_1970) {
    constexpr std::int64_t kReadingMicros = 20'000;
    const std::int64_t offset = since_1970.count() - now.micros();
    if (offset_ && std::max(offset, *offset_) - std::min(offset, *offset_) < kReadingMicros) return false;
    offset_ = offset;
    return true;
  }
  [[nodiscard]] bool is_known() const { return offset_.has_value(); }
  /// Microseconds since 1970; those of the server while nothing is known.
  [[nodiscard]] std::int64_t at(Instant instant) const { return instant.micros() + offset_.value_or(0); }

 private:
  std::optional<std::int64_t> offset_;
};

}  // namespace berth::serving
