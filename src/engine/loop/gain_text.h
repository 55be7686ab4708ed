/// The gain of a change in words.
#pragma once

#include <string>

namespace berth {

/// "12.30 s", with the sign of a loss; what would be rounded to nothing is "less than 0.01 s".
[[nodiscard]] std::string gain_text(double seconds);

}  // namespace berth
