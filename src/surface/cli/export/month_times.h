/// Months in the time format of other systems.
#pragma once

#include <string>

#include "base/core/month.h"

namespace berth::cli {

/// Such as "2026-11-01T00:00:00Z".
struct MonthTimes {
  std::string begin;
  std::string end;  ///< the beginning of the next month
};

[[nodiscard]] inline MonthTimes times_of(Month month) {
  constexpr const char* kMidnight = "T00:00:00Z";
  const Date first = month.first_day();
  return {.begin = first.to_string() + kMidnight,
          .end = Date(first.days() + month.day_count()).to_string() + kMidnight};
}

}  // namespace berth::cli
