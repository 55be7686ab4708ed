#include "models/graph/numbers.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "models/graph/half.h"

namespace berth::models {
namespace {

/// As files have them: this code runs on little-endian machines alone, as the engines do.
static_assert(std::endian::native == std::endian::little);

template <class Stored, class Convert>
std::vector<double> numbers_in(const std::string& bytes, const Convert& convert) {
  std::vector<double> numbers(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    numbers[i] = static_cast<double>(convert(stored));
  }
  return numbers;
}

template <class Stored>
std::vector<double> numbers_in(const std::string& bytes) {
  return numbers_in<Stored>(bytes, [](Stored stored) { return stored; });
}

template <class Stored, class Convert>
std::string bytes_of(const std::vector<double>& numbers, const Convert& convert) {
  std::string bytes(numbers.size() * sizeof(Stored), '\0');
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Stored stored = convert(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof(Stored), &stored, sizeof(Stored));
  }
  return bytes;
}

std::string float_bytes(ElementType type, const std::vector<double>& values) {
  if (type == ElementType::kDouble) return bytes_of<double>(values, [](double value) { return value; });
  if (type == ElementType::kFloat16) {
    return bytes_of<std::uint16_t>(values, [](double value) { return to_half(static_cast<float>(value)); });
  }
  if (type == ElementType::kBfloat16) {
    return bytes_of<std::uint16_t>(values, [](double value) { return to_bfloat(static_cast<float>(value)); });
  }
  return bytes_of<float>(values, [](double value) { return static_cast<float>(value); });
}

}  // namespace

bool is_float_type(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kDouble || type == ElementType::kFloat16 ||
         type == ElementType::kBfloat16;
}

std::optional<std::vector<double>> to_doubles(const Constant& constant) {
  const std::string& bytes = constant.bytes;
  switch (constant.type) {
    case ElementType::kFloat:
      return numbers_in<float>(bytes);
    case ElementType::kDouble:
      return numbers_in<double>(bytes);
    case ElementType::kFloat16:
      return numbers_in<std::uint16_t>(bytes, from_half);
    case ElementType::kBfloat16:
      return numbers_in<std::uint16_t>(bytes, from_bfloat);
    case ElementType::kBool:
    case ElementType::kUint8:
      return numbers_in<std::uint8_t>(bytes);
    case ElementType::kInt8:
      return numbers_in<std::int8_t>(bytes);
    case ElementType::kUint16:
      return numbers_in<std::uint16_t>(bytes);
    case ElementType::kInt16:
      return numbers_in<std::int16_t>(bytes);
    case ElementType::kUint32:
      return numbers_in<std::uint32_t>(bytes);
    case ElementType::kInt32:
      return numbers_in<std::int32_t>(bytes);
    case ElementType::kUint64:
      return numbers_in<std::uint64_t>(bytes);
    case ElementType::kInt64:
      return numbers_in<std::int64_t>(bytes);
    case ElementType::kUndefined:
    case ElementType::kString:
    case ElementType::kComplex64:
    case ElementType::kComplex128:
    case ElementType::kFloat8E4m3fn:
    case ElementType::kFloat8E4m3fnuz:
    case ElementType::kFloat8E5m2:
    case ElementType::kFloat8E5m2fnuz:
    case ElementType::kUint4:
    case ElementType::kInt4:
    case ElementType::kFloat4E2m1:
    case ElementType::kFloat8E8m0:
    case ElementType::kUint2:
    case ElementType::kInt2:
    case ElementType::kFloat6E2m3:
    case ElementType::kFloat6E3m2:
      break;
  }
  return std::nullopt;
}

ConstantPtr from_doubles(ElementType type, Dims dims, const std::vector<double>& values) {
  ENSURE(is_float_type(type));
  ENSURE(count_of(dims) == static_cast<std::int64_t>(values.size()));
  return share({.type = type, .dims = std::move(dims), .bytes = float_bytes(type, values)});
}

}  // namespace berth::models
