#include "models/graph/constant.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

struct ElementTypeRow {
  ElementType type;
  std::string_view name;
  int bits;
};

constexpr auto kElementTypes = std::to_array<ElementTypeRow>({
    {ElementType::kUndefined, "undefined", 0},
    {ElementType::kFloat, "float", 32},
    {ElementType::kUint8, "uint8", 8},
    {ElementType::kInt8, "int8", 8},
    {ElementType::kUint16, "uint16", 16},
    {ElementType::kInt16, "int16", 16},
    {ElementType::kInt32, "int32", 32},
    {ElementType::kInt64, "int64", 64},
    {ElementType::kString, "string", 0},
    {ElementType::kBool, "bool", 8},
    {ElementType::kFloat16, "float16", 16},
    {ElementType::kDouble, "double", 64},
    {ElementType::kUint32, "uint32", 32},
    {ElementType::kUint64, "uint64", 64},
    {ElementType::kComplex64, "complex64", 64},
    {ElementType::kComplex128, "complex128", 128},
    {ElementType::kBfloat16, "bfloat16", 16},
    {ElementType::kFloat8E4m3fn, "float8e4m3fn", 8},
    {ElementType::kFloat8E4m3fnuz, "float8e4m3fnuz", 8},
    {ElementType::kFloat8E5m2, "float8e5m2", 8},
    {ElementType::kFloat8E5m2fnuz, "float8e5m2fnuz", 8},
    {ElementType::kUint4, "uint4", 4},
    {ElementType::kInt4, "int4", 4},
    {ElementType::kFloat4E2m1, "float4e2m1", 4},
    {ElementType::kFloat8E8m0, "float8e8m0", 8},
    {ElementType::kUint2, "uint2", 2},
    {ElementType::kInt2, "int2", 2},
    {ElementType::kFloat6E2m3, "float6e2m3", 6},
    {ElementType::kFloat6E3m2, "float6e3m2", 6},
});

const ElementTypeRow* row_of(ElementType type) {
  const auto* const found = std::ranges::find(kElementTypes, type, &ElementTypeRow::type);
  return found == kElementTypes.end() ? nullptr : found;
}

template <class T>
ConstantPtr packed(ElementType type, Dims dims, const std::vector<T>& values) {
  ENSURE(std::cmp_equal(values.size(), count_of(dims)));
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return share({.type = type, .dims = std::move(dims), .bytes = std::move(bytes)});
}

template <class T>
std::vector<T> unpacked(ElementType type, const Constant& constant) {
  ENSURE(constant.type == type && constant.bytes.size() % sizeof(T) == 0);
  std::vector<T> values(constant.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), constant.bytes.data(), constant.bytes.size());
  return values;
}

}  // namespace

std::string name_of(ElementType type) {
  const ElementTypeRow* const row = row_of(type);
  return row == nullptr ? fmt::format("type {}", static_cast<std::int32_t>(type)) : std::string(row->name);
}

int element_bits(ElementType type) {
  const ElementTypeRow* const row = row_of(type);
  return row == nullptr ? 0 : row->bits;
}

std::int64_t count_of(const Dims& dims) {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    ENSURE(dim >= 0 && count <= INT64_MAX / dim);
    count *= dim;
  }
  return count;
}

std::size_t byte_size(ElementType type, const Dims& dims) {
  const auto bits = static_cast<std::size_t>(element_bits(type));
  const auto count = static_cast<std::size_t>(count_of(dims));
  ENSURE(bits == 0 || count <= SIZE_MAX / 2 / bits);
  return (count * bits + 7) / 8;
}

ConstantPtr share(Constant constant) { return std::make_shared<const Constant>(std::move(constant)); }

ConstantPtr floats(Dims dims, const std::vector<float>& values) {
  return packed(ElementType::kFloat, std::move(dims), values);
}
ConstantPtr int64s(Dims dims, const std::vector<std::int64_t>& values) {
  return packed(ElementType::kInt64, std::move(dims), values);
}
ConstantPtr int32s(Dims dims, const std::vector<std::int32_t>& values) {
  return packed(ElementType::kInt32, std::move(dims), values);
}
ConstantPtr int8s(Dims dims, const std::vector<std::int8_t>& values) {
  return packed(ElementType::kInt8, std::move(dims), values);
}
ConstantPtr uint8s(Dims dims, const std::vector<std::uint8_t>& values) {
  return packed(ElementType::kUint8, std::move(dims), values);
}
ConstantPtr float_scalar(float value) { return floats({}, {value}); }

std::vector<float> to_floats(const Constant& constant) { return unpacked<float>(ElementType::kFloat, constant); }
std::vector<std::int64_t> to_int64s(const Constant& constant) {
  return unpacked<std::int64_t>(ElementType::kInt64, constant);
}

}  // namespace berth::models
