/// Calendar months (UTC).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/date.h"
#include "base/core/result.h"

namespace berth {

inline constexpr std::int64_t kMicrosPerDay = 86'400'000'000;

/// A month from 1970-01 to 9999-12, as the number of months since the first of them.
class Month {
 public:
  Month() = default;
  /// Requires: within the range above.
  explicit Month(std::int32_t index);

  /// Reads YYYY-MM; the error says what was wanted and found, without a position.
  [[nodiscard]] static Result<Month> parse(std::string_view text);
  /// The month of an instant, in microseconds since 1970. Requires: within the range.
  [[nodiscard]] static Month of(std::int64_t us);

  [[nodiscard]] std::int32_t index() const { return index_; }
  /// Its beginning, and that of the next month, in microseconds since 1970.
  [[nodiscard]] std::int64_t begin_us() const;
  [[nodiscard]] std::int64_t end_us() const;
  [[nodiscard]] Date first_day() const;
  [[nodiscard]] std::int32_t day_count() const;
  /// The month after this one. Requires: it is within the range.
  [[nodiscard]] Month next() const { return Month(index_ + 1); }
  [[nodiscard]] std::string to_string() const;

  friend auto operator<=>(Month, Month) = default;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.index_);
    archive.require(self.index_ >= 0 && self.index_ <= kIndexMax);
  }

 private:
  static constexpr std::int32_t kIndexMax = (9999 - 1970) * 12 + 11;

  std::int32_t index_ = 0;
};

/// The number of days since 1970 of an instant in microseconds since then. Requires: us >= 0.
[[nodiscard]] constexpr std::int32_t day_of(std::int64_t us) { return static_cast<std::int32_t>(us / kMicrosPerDay); }

}  // namespace berth
