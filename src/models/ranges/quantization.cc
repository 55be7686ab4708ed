#include "models/ranges/quantization.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/ensure.h"

namespace berth::models {

int QuantizedType::integer_min() const {
  if (!is_signed) return 0;
  // Symmetric ones leave out the integer without a counterpart, so that the range is the same on both sides.
  return -(1 << (bits - 1)) + (is_symmetric ? 1 : 0);
}

int QuantizedType::integer_max() const { return is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1; }

Quantization quantization_of(const Range& range, const QuantizedType& type) {
  ENSURE(std::isfinite(range.min) && std::isfinite(range.max) && range.min <= range.max);
  const double min = std::min(0.0F, range.min);
  const double max = std::max(0.0F, range.max);
  const int low = type.integer_min();
  const int high = type.integer_max();
  const int middle = type.is_signed ? 0 : 1 << (type.bits - 1);
  if (min == 0 && max == 0) return {.scale = 1, .zero_point = type.is_symmetric ? middle : low};
  const double width = type.is_symmetric ? std::max(-min, max) : max - min;
  const double steps = type.is_symmetric ? high - middle : high - low;
  // Engines multiply scales: a denormal one would lose its digits.
  const double scale = std::clamp(width / steps, static_cast<double>(std::numeric_limits<float>::min()),
                                  static_cast<double>(std::numeric_limits<float>::max()));
  const auto scale_stored = static_cast<float>(scale);
  if (type.is_symmetric) return {.scale = scale_stored, .zero_point = middle};
  const auto zero_point = static_cast<int>(std::nearbyint(low - min / scale));
  return {.scale = scale_stored, .zero_point = std::clamp(zero_point, low, high)};
}

int quantized(double value, const Quantization& quantization, const QuantizedType& type) {
  const double place = std::nearbyint(value / static_cast<double>(quantization.scale)) + quantization.zero_point;
  return static_cast<int>(
      std::clamp(place, static_cast<double>(type.integer_min()), static_cast<double>(type.integer_max())));
}

double dequantized(int integer, const Quantization& quantization) {
  return static_cast<double>(quantization.scale) * (integer - quantization.zero_point);
}

}  // namespace berth::models
