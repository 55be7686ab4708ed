#include "base/core/clock_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace berth {

std::string WorldEpoch::text(Instant at) const {
  using std::chrono::microseconds;
  const std::chrono::sys_time<microseconds> time{microseconds(unix_micros + at.micros())};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

namespace {

/// Parses a text from its beginning; after the first mismatch it stays failed.
class ClockReader {
 public:
  explicit ClockReader(std::string_view text) : text_(text) {}

  /// The number of exactly `digits` digits.
  int number(std::size_t digits) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = i < text_.size() ? text_[i] : '?';
      if (c < '0' || c > '9') {
        has_failed_ = true;
        return 0;
      }
      value = 10 * value + (c - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }
  /// Consumes the next character if it is one of these; whether it was.
  bool takes(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(std::string_view characters) { has_failed_ = !takes(characters) || has_failed_; }
  [[nodiscard]] std::size_t digit_count() const {
    const std::size_t end = text_.find_first_not_of("0123456789");
    return end == std::string_view::npos ? text_.size() : end;
  }
  void require(bool condition) { has_failed_ = !condition || has_failed_; }
  [[nodiscard]] char next() const { return text_.empty() ? '\0' : text_.front(); }
  [[nodiscard]] bool is_right() const { return !has_failed_ && text_.empty(); }

 private:
  std::string_view text_;
  bool has_failed_ = false;
};

/// Microseconds of ".5".
int read_fraction(ClockReader& reader) {
  constexpr std::size_t kDigitsMax = 6;
  if (!reader.takes(".")) return 0;
  const std::size_t digits = reader.digit_count();
  reader.require(digits >= 1);
  int micros = reader.number(std::min(digits, kDigitsMax));
  for (std::size_t i = digits; i < kDigitsMax; ++i) micros *= 10;
  for (std::size_t i = kDigitsMax; i < digits; ++i) reader.number(1);  // finer than microseconds: dropped
  return micros;
}

/// Minutes of "Z" or "+01:00".
int read_offset(ClockReader& reader) {
  if (reader.takes("Zz")) return 0;
  const int sign = reader.next() == '-' ? -1 : 1;
  reader.expect("+-");
  const int hours = reader.number(2);
  reader.expect(":");
  const int minutes = reader.number(2);
  reader.require(hours < 24 && minutes < 60);
  return sign * (60 * hours + minutes);
}

}  // namespace

std::optional<Instant> WorldEpoch::parse(std::string_view text) const {
  namespace time = std::chrono;
  ClockReader reader(text);
  const int year = reader.number(4);
  reader.expect("-");
  const int month = reader.number(2);
  reader.expect("-");
  const int day = reader.number(2);
  reader.expect("Tt");
  const int hour = reader.number(2);
  reader.expect(":");
  const int minute = reader.number(2);
  reader.expect(":");
  const int second = reader.number(2);
  const int micros = read_fraction(reader);
  const int offset = read_offset(reader);
  const time::year_month_day date{time::year(year), time::month(static_cast<unsigned>(month)),
                                  time::day(static_cast<unsigned>(day))};
  reader.require(year > 0 && date.ok() && hour < 24 && minute < 60 && second < 60);
  if (!reader.is_right()) return std::nullopt;
  const time::sys_time<time::microseconds> at = time::sys_days(date) + time::hours(hour) +
                                                time::minutes(minute - offset) + time::seconds(second) +
                                                time::microseconds(micros);
  return Instant(at.time_since_epoch().count() - unix_micros);
}

}  // namespace berth
