/// The current day, for verbs whose default is today.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/core/date.h"

namespace berth::cli {

/// From the wall clock, in UTC. Verbs read it once, when they check their words.
[[nodiscard]] inline Date today() {
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return Date(static_cast<std::int32_t>(days.time_since_epoch().count()));
}

}  // namespace berth::cli
