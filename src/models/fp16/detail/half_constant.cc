#include "models/fp16/detail/half_constant.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/graph/half.h"

namespace berth::models {

HalfConstant half_constant(const Constant& constant) {
  const std::vector<float> numbers = to_floats(constant);
  HalfConstant half;
  std::string bytes;
  bytes.reserve(2 * numbers.size());
  for (const float number : numbers) {
    const bool is_beyond = std::isfinite(number) && std::abs(number) > kHalfMax;
    if (is_beyond) ++half.clipped_count;
    const std::uint16_t bits = to_half(is_beyond ? std::copysign(kHalfMax, number) : number);
    bytes += static_cast<char>(bits & 0xFF);
    bytes += static_cast<char>(bits >> 8);
  }
  half.constant = share({.type = ElementType::kFloat16, .dims = constant.dims, .bytes = std::move(bytes)});
  return half;
}

}  // namespace berth::models
