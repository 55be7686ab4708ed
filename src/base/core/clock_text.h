/// World times as text: RFC 3339 in UTC with microseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/instant.h"

namespace berth {

/// The time of a world's second 0: microseconds since 1970-01-01T00:00:00Z.
struct WorldEpoch {
  std::int64_t unix_micros = 0;

  /// "2026-11-22T10:00:00.000000Z". Years 0001 to 9999.
  [[nodiscard]] std::string text(Instant at) const;
  /// Parses a time of RFC 3339: "2026-11-22T10:00:00Z", optionally with a fraction, "Z" or an offset such as "+01:00".
  /// Years 0001 to 9999; no leap seconds. Nothing if the text is malformed.
  [[nodiscard]] std::optional<Instant> parse(std::string_view text) const;
};

}  // namespace berth
