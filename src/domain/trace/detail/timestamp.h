/// Timestamps as trace files write them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::detail {

/// An instant in UTC, by the proleptic Gregorian calendar without leap seconds.
struct Timestamp {
  std::int64_t second = 0;  ///< since 1970-01-01 00:00:00, may be negative
  std::int64_t nanos = 0;   ///< in [0, 10^9)
  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

/// Reads YYYY-MM-DD HH:MM:SS with a fraction of 1 to 9 digits or none, `T` or a space between, `Z`, `+00:00` or nothing
/// after it. Nothing if the text has another form, or names a day or an hour that does not exist.
[[nodiscard]] std::optional<Timestamp> parse_timestamp(std::string_view text);

}  // namespace berth::detail
