#include "surface/pages/calendar_axis.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/core/date.h"
#include "base/core/ensure.h"
#include "base/core/month.h"
#include "surface/pages/ledger_cells.h"

namespace berth::report {
namespace {

constexpr std::int64_t kHourLengthUs = 3'600'000'000;
constexpr std::int32_t kMonthsOfYear = 12;

/// The distance from label to label.
struct CalendarStep {
  CalendarUnit unit = CalendarUnit::kHour;
  std::int32_t count = 1;

  /// Approximate for months and years.
  [[nodiscard]] double length_us() const {
    switch (unit) {
      case CalendarUnit::kHour:
        return static_cast<double>(count * kHourLengthUs);
      case CalendarUnit::kDay:
        return static_cast<double>(count * kMicrosPerDay);
      case CalendarUnit::kMonth:
        return static_cast<double>(count * kMicrosPerDay) * 30.4;
      case CalendarUnit::kYear:
        return static_cast<double>(count * kMicrosPerDay) * 365.2;
    }
    ENSURE(false);
  }
};

constexpr std::array kCalendarSteps = {
    CalendarStep{CalendarUnit::kHour, 1},  CalendarStep{CalendarUnit::kHour, 3},  CalendarStep{CalendarUnit::kHour, 6},
    CalendarStep{CalendarUnit::kHour, 12}, CalendarStep{CalendarUnit::kDay, 1},   CalendarStep{CalendarUnit::kDay, 2},
    CalendarStep{CalendarUnit::kDay, 7},   CalendarStep{CalendarUnit::kDay, 14},  CalendarStep{CalendarUnit::kMonth, 1},
    CalendarStep{CalendarUnit::kMonth, 3}, CalendarStep{CalendarUnit::kMonth, 6}, CalendarStep{CalendarUnit::kYear, 1},
    CalendarStep{CalendarUnit::kYear, 2},  CalendarStep{CalendarUnit::kYear, 5},  CalendarStep{CalendarUnit::kYear, 10},
    CalendarStep{CalendarUnit::kYear, 20}};

CalendarStep calendar_step(double length_us, CalendarUnit least) {
  constexpr double kLabelsMax = 10;
  for (const CalendarStep& step : kCalendarSteps) {
    if (step.unit >= least && length_us <= step.length_us() * kLabelsMax) return step;
  }
  return kCalendarSteps.back();
}

std::int64_t up_to_multiple(std::int64_t value, std::int64_t of) { return (value + of - 1) / of * of; }

/// The first round time at or after an instant. Weeks begin on Mondays.
std::int64_t first_label_us(const CalendarStep& step, std::int64_t from_us) {
  constexpr std::int64_t kMondayFirst = 4;  // 1970-01-05
  const std::int64_t day = up_to_multiple(from_us, kMicrosPerDay) / kMicrosPerDay;
  switch (step.unit) {
    case CalendarUnit::kHour:
      return up_to_multiple(from_us, step.count * kHourLengthUs);
    case CalendarUnit::kDay:
      if (step.count < 7) return day * kMicrosPerDay;
      return (kMondayFirst + up_to_multiple(day - kMondayFirst, 7)) * kMicrosPerDay;
    case CalendarUnit::kMonth:
    case CalendarUnit::kYear: {
      const Month month = Month::of(from_us);
      const std::int32_t months = step.count * (step.unit == CalendarUnit::kYear ? kMonthsOfYear : 1);
      const std::int32_t first = month.begin_us() < from_us ? month.index() + 1 : month.index();
      // Years are counted from 1960, a multiple of 20; 1970 is only one of 10.
      constexpr std::int32_t kSince1960 = 10 * kMonthsOfYear;
      return Month(static_cast<std::int32_t>(up_to_multiple(first + kSince1960, months)) - kSince1960).begin_us();
    }
  }
  ENSURE(false);
}

std::int64_t next_label_us(const CalendarStep& step, std::int64_t at_us) {
  switch (step.unit) {
    case CalendarUnit::kHour:
      return at_us + step.count * kHourLengthUs;
    case CalendarUnit::kDay:
      return at_us + step.count * kMicrosPerDay;
    case CalendarUnit::kMonth:
      return Month(Month::of(at_us).index() + step.count).begin_us();
    case CalendarUnit::kYear:
      return Month(Month::of(at_us).index() + step.count * kMonthsOfYear).begin_us();
  }
  ENSURE(false);
}

std::string label_text(const CalendarStep& step, std::int64_t at_us) {
  const Month month = Month::of(at_us);
  switch (step.unit) {
    case CalendarUnit::kHour:
      if (at_us % kMicrosPerDay == 0) return day_words(day_of(at_us));
      return fmt::format("{:02}:00", at_us % kMicrosPerDay / kHourLengthUs);
    case CalendarUnit::kDay:
      return day_words(day_of(at_us));
    case CalendarUnit::kMonth: {
      const std::string words = month_words(month);
      return words.substr(0, 3) + words.substr(words.find(' '));
    }
    case CalendarUnit::kYear:
      return month.to_string().substr(0, 4);
  }
  ENSURE(false);
}

}  // namespace

std::string day_words(std::int32_t day) {
  const Month month = Month::of(day * kMicrosPerDay);
  return fmt::format("{} {}", day - month.first_day().days() + 1, month_words(month).substr(0, 3));
}

std::string calendar_axis(const ChartFrame& frame, const ChartScale& x, CalendarUnit least) {
  constexpr double kEdge = 24;  // labels nearer to the edges stay inside
  const CalendarStep step = calendar_step(x.last - x.first, least);
  const bool is_in_middle = step.unit == CalendarUnit::kDay;
  std::string svg;
  std::int64_t at_us = first_label_us(step, std::llround(x.first));
  for (; static_cast<double>(at_us) <= x.last; at_us = next_label_us(step, at_us)) {
    const double tick = x.at(static_cast<double>(at_us));
    svg += fmt::format(R"(<path class="tickline" d="M{} {}v4"/>)", position(tick), position(frame.bottom));
    const double label = is_in_middle ? x.at(static_cast<double>(at_us) + kMicrosPerDay / 2.0) : tick;
    if (label > frame.right) continue;
    const std::string_view anchor = label > frame.right - kEdge  ? "end"
                                    : label < frame.left + kEdge ? "start"
                                                                 : "middle";
    const double inside = anchor == "end" ? frame.right : anchor == "start" ? frame.left : label;
    svg += fmt::format(R"(<text x="{}" y="{}" text-anchor="{}">{}</text>)", position(inside),
                       position(frame.bottom + 18), anchor, label_text(step, at_us));
  }
  return svg;
}

}  // namespace berth::report
