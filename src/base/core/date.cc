#include "base/core/date.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "base/core/ensure.h"
#include "base/core/text.h"

namespace berth {
namespace {

using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr std::int32_t kDaysMax = 2'932'896;  // 9999-12-31

/// The digits of a part of the text; nothing if there is another character.
std::optional<int> number_in(std::string_view text) {
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

Date::Date(std::int32_t days) : days_(days) { ENSURE(days >= 0 && days <= kDaysMax); }

Result<Date> Date::parse(std::string_view text) {
  constexpr std::size_t kLength = 10;
  const auto refused = [&] {
    return invalid("wanted a date such as 2026-07-20, from 1970 on, found " + in_quotes(text));
  };
  if (text.size() != kLength || text[4] != '-' || text[7] != '-') return refused();
  const auto year = number_in(text.substr(0, 4));
  const auto month = number_in(text.substr(5, 2));
  const auto day = number_in(text.substr(8, 2));
  if (!year || !month || !day || *year < 1970) return refused();
  const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                            std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return refused();
  return Date(static_cast<std::int32_t>(sys_days(date).time_since_epoch().count()));
}

std::string Date::to_string() const {
  const year_month_day date{sys_days(std::chrono::days(days_))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace berth
