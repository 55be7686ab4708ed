#include "base/core/month.h"

#include <fmt/format.h>

#include <chrono>

#include "base/core/ensure.h"
#include "base/core/text.h"

namespace berth {
namespace {

constexpr std::int32_t kYearFirst = 1970;
constexpr std::int32_t kMonthsPerYear = 12;

}  // namespace

Month::Month(std::int32_t index) : index_(index) { ENSURE(index >= 0 && index <= kIndexMax); }

Result<Month> Month::parse(std::string_view text) {
  const auto day = Date::parse(std::string(text) + "-01");
  if (text.size() != 7 || !day) return invalid("wanted a month such as 2026-11, found " + in_quotes(text));
  return of(day->days() * kMicrosPerDay);
}

Month Month::of(std::int64_t us) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day_of(us)))};
  const auto month = static_cast<std::int32_t>(static_cast<unsigned>(date.month()));
  return Month((static_cast<int>(date.year()) - kYearFirst) * kMonthsPerYear + month - 1);
}

Date Month::first_day() const {
  const std::chrono::year_month_day date{std::chrono::year(kYearFirst + index_ / kMonthsPerYear),
                                         std::chrono::month(static_cast<unsigned>(index_ % kMonthsPerYear + 1)),
                                         std::chrono::day(1)};
  return Date(static_cast<std::int32_t>(std::chrono::sys_days(date).time_since_epoch().count()));
}

std::int64_t Month::begin_us() const { return first_day().days() * kMicrosPerDay; }

std::int64_t Month::end_us() const { return begin_us() + day_count() * kMicrosPerDay; }

std::int32_t Month::day_count() const {
  if (index_ == kIndexMax) return 31;
  return next().first_day().days() - first_day().days();
}

std::string Month::to_string() const {
  return fmt::format("{:04}-{:02}", kYearFirst + index_ / kMonthsPerYear, index_ % kMonthsPerYear + 1);
}

}  // namespace berth
