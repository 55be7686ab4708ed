#include "models/graph/half.h"

#include <bit>
#include <cmath>

namespace berth::models {
namespace {

constexpr std::uint32_t kFloatInfinity = 0x7F80'0000;

/// `value` without its lowest `shift` bits, to the nearest, ties to even. Requires: 0 < shift < 32.
std::uint32_t shifted_to_even(std::uint32_t value, int shift) {
  const std::uint32_t kept = value >> shift;
  const std::uint32_t rest = value & ((1U << shift) - 1);
  const std::uint32_t middle = 1U << (shift - 1);
  return kept + (rest > middle || (rest == middle && (kept & 1U) != 0) ? 1U : 0U);
}

}  // namespace

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t size = bits & 0x7FFF'FFFFU;
  if (size > kFloatInfinity) return static_cast<std::uint16_t>(sign | 0x7E00U);
  // 65520 is halfway between the largest finite number and what would be next.
  if (size >= 0x477F'F000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  const auto exponent = static_cast<int>(size >> 23);
  if (exponent < 102) return static_cast<std::uint16_t>(sign);  // below half of the smallest subnormal number
  if (exponent < 113) {
    const std::uint32_t digits = (size & 0x007F'FFFFU) | 0x0080'0000U;
    return static_cast<std::uint16_t>(sign | shifted_to_even(digits, 126 - exponent));
  }
  // A digit that overflows carries into the exponent, which is then right.
  return static_cast<std::uint16_t>(sign | shifted_to_even(size - 0x3800'0000U, 13));
}

float from_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1FU;
  const std::uint32_t digits = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | kFloatInfinity | digits << 13);
  if (exponent == 0) {
    const float size = std::ldexp(static_cast<float>(digits), -24);
    return sign != 0 ? -size : size;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | digits << 13);
}

std::uint16_t to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFF'FFFFU) > kFloatInfinity) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>(shifted_to_even(bits, 16));
}

float from_bfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace berth::models
