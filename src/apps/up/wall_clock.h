/// The wall clock, as a running `berth up` reads it.
#pragma once

#include <chrono>
#include <cstdint>

namespace berth::up {

/// Microseconds since 1970.
[[nodiscard]] inline std::int64_t wall_us_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

/// The wall clock at construction, plus the time since: the wall clock may be set meanwhile.
class SteadyWallClock {
 public:
  [[nodiscard]] std::int64_t now_us() const {
    const auto passed = std::chrono::steady_clock::now() - began_;
    return wall_began_us_ + std::chrono::duration_cast<std::chrono::microseconds>(passed).count();
  }

 private:
  const std::int64_t wall_began_us_ = wall_us_now();
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace berth::up
