#include "domain/trace/detail/timestamp.h"

#include <chrono>

namespace berth::detail {
namespace {

constexpr std::size_t kFractionDigitsMax = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes `digit_count` digits and the character after them, if one of `ends` is wanted, from the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t digit_count, std::string_view ends) {
  const std::size_t length = digit_count + (ends.empty() ? 0 : 1);
  if (text.size() < length) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digit_count)) {
    if (!is_digit(c)) return std::nullopt;
    number = number * 10 + (c - '0');
  }
  if (!ends.empty() && ends.find(text[digit_count]) == std::string_view::npos) return std::nullopt;
  text.remove_prefix(length);
  return number;
}

std::optional<std::int64_t> take_nanos(std::string_view& text) {
  if (text.empty() || text.front() != '.') return 0;
  text.remove_prefix(1);
  std::int64_t nanos = 0;
  std::size_t digit_count = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    if (++digit_count > kFractionDigitsMax) return std::nullopt;
    nanos = nanos * 10 + (text.front() - '0');
  }
  if (digit_count == 0) return std::nullopt;
  for (; digit_count < kFractionDigitsMax; ++digit_count) nanos *= 10;
  return nanos;
}

}  // namespace

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  const auto year = take_number(text, 4, "-");
  const auto month = year ? take_number(text, 2, "-") : std::nullopt;
  const auto day = month ? take_number(text, 2, " T") : std::nullopt;
  const auto hour = day ? take_number(text, 2, ":") : std::nullopt;
  const auto minute = hour ? take_number(text, 2, ":") : std::nullopt;
  const auto second = minute ? take_number(text, 2, "") : std::nullopt;
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const auto nanos = take_nanos(text);
  if (!nanos || !(text.empty() || text == "Z" || text == "+00:00")) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return Timestamp{.second = ((days * 24 + *hour) * 60 + *minute) * 60 + *second, .nanos = *nanos};
}

}  // namespace berth::detail
