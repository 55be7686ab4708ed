#include "serving/batching/elements.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace berth::serving {
namespace {

template <class T>
void append_as(std::string& bytes, double value) {
  const T element = static_cast<T>(value);
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof element);
  std::memcpy(bytes.data() + at, &element, sizeof element);
}

template <class T>
T element_at(const std::string& bytes, std::size_t at) {
  T element = 0;
  std::memcpy(&element, bytes.data() + at * sizeof element, sizeof element);
  return element;
}

/// IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
double of_fp16(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = (bits >> 10U) & 0x1FU;
  const int fraction = bits & 0x3FFU;
  if (exponent == 0x1F) return fraction == 0 ? sign * HUGE_VAL : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 0x400, exponent - 25);
}

/// Of a positive number below 2^16 that needs at most 10 bits, which is exact.
std::uint16_t fp16_of(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // 0.5 to 1
  return static_cast<std::uint16_t>(((exponent + 14) << 10) | (static_cast<int>(fraction * 0x800) & 0x3FF));
}

/// The upper half of a 32-bit float.
double of_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }
std::uint16_t bf16_of(double value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U);
}

}  // namespace

bool is_float(TensorType type) {
  return type == TensorType::kFp16 || type == TensorType::kBf16 || type == TensorType::kFp32 ||
         type == TensorType::kFp64;
}

void append_element(std::string& bytes, TensorType type, double value) {
  switch (type) {
    case TensorType::kBool:
      return append_as<std::uint8_t>(bytes, value != 0 ? 1 : 0);
    case TensorType::kUint8:
    case TensorType::kInt8:
      return append_as<std::uint8_t>(bytes, value);
    case TensorType::kUint16:
    case TensorType::kInt16:
      return append_as<std::uint16_t>(bytes, value);
    case TensorType::kUint32:
    case TensorType::kInt32:
      return append_as<std::uint32_t>(bytes, value);
    case TensorType::kUint64:
    case TensorType::kInt64:
      return append_as<std::uint64_t>(bytes, value);
    case TensorType::kFp16:
      return append_as<std::uint16_t>(bytes, fp16_of(value));
    case TensorType::kBf16:
      return append_as<std::uint16_t>(bytes, bf16_of(value));
    case TensorType::kFp32:
      return append_as<float>(bytes, value);
    case TensorType::kFp64:
      return append_as<double>(bytes, value);
    case TensorType::kBytes:
      return;
  }
}

std::vector<double> float_elements(const Tensor& tensor) {
  const std::size_t count = tensor.bytes.size() / element_bytes(tensor.type);
  std::vector<double> elements;
  elements.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    switch (tensor.type) {
      case TensorType::kFp16:
        elements.push_back(of_fp16(element_at<std::uint16_t>(tensor.bytes, i)));
        break;
      case TensorType::kBf16:
        elements.push_back(of_bf16(element_at<std::uint16_t>(tensor.bytes, i)));
        break;
      case TensorType::kFp32:
        elements.push_back(element_at<float>(tensor.bytes, i));
        break;
      default:
        elements.push_back(element_at<double>(tensor.bytes, i));
    }
  }
  return elements;
}

}  // namespace berth::serving
