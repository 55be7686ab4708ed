/// The map from real numbers to integers of 8 bits, and the ranges it is made from:
/// real = scale * (integer - zero_point), as in ONNX's QuantizeLinear and DequantizeLinear.
#pragma once

namespace berth::models {

/// Real numbers from `min` to `max`.
struct Range {
  float min = 0;
  float max = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

/// The integers that are used.
struct QuantizedType {
  bool is_signed = false;
  int bits = 8;               ///< 7 or 8; 7 leaves a bit for sums of two products in 16 bits
  bool is_symmetric = false;  ///< the zero point is 0 (signed) or half of the integers (unsigned)

  [[nodiscard]] int integer_min() const;
  [[nodiscard]] int integer_max() const;

  friend bool operator==(const QuantizedType&, const QuantizedType&) = default;
};

struct Quantization {
  float scale = 1;     ///< above 0 and finite
  int zero_point = 0;  ///< one of the integers of the type

  friend bool operator==(const Quantization&, const Quantization&) = default;
};

/// Spreads the integers over the range, widened to contain 0, which is exact: zero_point stands for it. A range of
/// nothing but 0 gets scale 1. Requires: finite, min <= max.
[[nodiscard]] Quantization quantization_of(const Range& range, const QuantizedType& type);

/// The nearest integer, ties to even, within those of the type: as QuantizeLinear does.
[[nodiscard]] int quantized(double value, const Quantization& quantization, const QuantizedType& type);

/// The real number that the integer stands for.
[[nodiscard]] double dequantized(int integer, const Quantization& quantization);

}  // namespace berth::models
