/// The axis of calendar time (UTC) below a chart.
#pragma once

#include <cstdint>
#include <string>

#include "surface/pages/chart.h"

namespace berth::report {

/// The shortest distance between labels.
enum class CalendarUnit : std::uint8_t { kHour, kDay, kMonth, kYear };

/// At most about ten labels: "06:00", "17 Nov", "Nov 2026" or "2027", at round times; a day's is at its middle. The
/// scale is in microseconds since 1970. Requires: times in four-digit years.
[[nodiscard]] std::string calendar_axis(const ChartFrame& frame, const ChartScale& x, CalendarUnit least);

/// "17 Nov".
[[nodiscard]] std::string day_words(std::int32_t day);

}  // namespace berth::report
