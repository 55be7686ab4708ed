#include "models/compare/detail/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/core/ensure.h"

namespace berth::models::detail {
namespace {

/// IEEE 754 binary16.
double double_of_half(std::uint16_t bits) {
  constexpr unsigned kFractionBits = 10;
  const unsigned exponent = bits >> kFractionBits & 0x1FU;
  const double fraction = bits & 0x3FFU;
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 0x1F) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
}

double double_of_bfloat(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }

template <class Element, class Number>
std::vector<Number> convert(const Tensor& tensor, Number (*number_of)(Element)) {
  std::vector<Number> numbers(tensor.bytes.size() / sizeof(Element));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Element element{};
    std::memcpy(&element, tensor.bytes.data() + i * sizeof(Element), sizeof(Element));
    numbers[i] = number_of(element);
  }
  return numbers;
}

template <class Integer>
std::vector<std::int64_t> convert_integers(const Tensor& tensor) {
  return convert<Integer, std::int64_t>(tensor, [](Integer each) { return static_cast<std::int64_t>(each); });
}

}  // namespace

bool is_float(TensorType type) {
  return type == TensorType::kFp16 || type == TensorType::kBf16 || type == TensorType::kFp32 ||
         type == TensorType::kFp64;
}

bool is_integer(TensorType type) { return !is_float(type) && type != TensorType::kBool && type != TensorType::kBytes; }

std::optional<std::size_t> first_float(std::span<const Tensor> outputs) {
  const auto found = std::ranges::find_if(outputs, [](const Tensor& output) { return is_float(output.type); });
  return found == outputs.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - outputs.begin()));
}

std::vector<double> doubles_of(const Tensor& tensor) {
  ENSURE(is_float(tensor.type));
  switch (tensor.type) {
    case TensorType::kFp16:
      return convert<std::uint16_t, double>(tensor, double_of_half);
    case TensorType::kBf16:
      return convert<std::uint16_t, double>(tensor, double_of_bfloat);
    case TensorType::kFp64:
      return convert<double, double>(tensor, [](double each) { return each; });
    default:
      return convert<float, double>(tensor, [](float each) { return static_cast<double>(each); });
  }
}

std::vector<std::int64_t> integers_of(const Tensor& tensor) {
  ENSURE(is_integer(tensor.type));
  switch (tensor.type) {
    case TensorType::kUint8:
      return convert_integers<std::uint8_t>(tensor);
    case TensorType::kUint16:
      return convert_integers<std::uint16_t>(tensor);
    case TensorType::kUint32:
      return convert_integers<std::uint32_t>(tensor);
    case TensorType::kUint64:
      return convert_integers<std::uint64_t>(tensor);
    case TensorType::kInt8:
      return convert_integers<std::int8_t>(tensor);
    case TensorType::kInt16:
      return convert_integers<std::int16_t>(tensor);
    case TensorType::kInt32:
      return convert_integers<std::int32_t>(tensor);
    default:
      return convert_integers<std::int64_t>(tensor);
  }
}

}  // namespace berth::models::detail
