#include "engine/loop/gain_text.h"

#include <fmt/format.h>

#include <cmath>

namespace berth {

std::string gain_text(double seconds) {
  constexpr double kLeastShown = 0.005;  // rounded to 0.01
  return std::abs(seconds) < kLeastShown ? "less than 0.01 s" : fmt::format("{:.2f} s", seconds);
}

}  // namespace berth
