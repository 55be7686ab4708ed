/// The wall clock, for what is stored with the time at which it was added.
#pragma once

#include <chrono>
#include <cstdint>

namespace berth::cli {

/// Microseconds since 1970.
[[nodiscard]] inline std::int64_t wall_time_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace berth::cli
