/// Numbers of 16 bits: IEEE 754 binary16 ("float16") and bfloat16.
#pragma once

#include <cstdint>

namespace berth::models {

/// The largest finite float16.
inline constexpr float kHalfMax = 65504.0F;

/// To the nearest, ties to even; beyond the range: infinity; NaN stays NaN.
[[nodiscard]] std::uint16_t to_half(float value);
[[nodiscard]] float from_half(std::uint16_t bits);

[[nodiscard]] std::uint16_t to_bfloat(float value);
[[nodiscard]] float from_bfloat(std::uint16_t bits);

}  // namespace berth::models
