/// Calendar days (UTC).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth {

/// A day from 1970-01-01 to 9999-12-31, as the number of days since the first of them.
class Date {
 public:
  Date() = default;
  /// Requires: within the range above.
  explicit Date(std::int32_t days);

  /// Reads YYYY-MM-DD; the error says what was wanted and found, without a position.
  [[nodiscard]] static Result<Date> parse(std::string_view text);

  [[nodiscard]] std::int32_t days() const { return days_; }
  [[nodiscard]] std::string to_string() const;

  friend auto operator<=>(Date, Date) = default;

 private:
  std::int32_t days_ = 0;
};

}  // namespace berth
