#include "domain/values/tensor.h"

#include <algorithm>
#include <array>

#include "base/core/ensure.h"

namespace berth {
namespace {

struct TypeNames {
  TensorType type;
  std::string_view name;
  std::string_view config_name;
};

constexpr auto kTypeNames = std::to_array<TypeNames>({
    {TensorType::kBool, "BOOL", "TYPE_BOOL"},
    {TensorType::kUint8, "UINT8", "TYPE_UINT8"},
    {TensorType::kUint16, "UINT16", "TYPE_UINT16"},
    {TensorType::kUint32, "UINT32", "TYPE_UINT32"},
    {TensorType::kUint64, "UINT64", "TYPE_UINT64"},
    {TensorType::kInt8, "INT8", "TYPE_INT8"},
    {TensorType::kInt16, "INT16", "TYPE_INT16"},
    {TensorType::kInt32, "INT32", "TYPE_INT32"},
    {TensorType::kInt64, "INT64", "TYPE_INT64"},
    {TensorType::kFp16, "FP16", "TYPE_FP16"},
    {TensorType::kBf16, "BF16", "TYPE_BF16"},
    {TensorType::kFp32, "FP32", "TYPE_FP32"},
    {TensorType::kFp64, "FP64", "TYPE_FP64"},
    {TensorType::kBytes, "BYTES", "TYPE_STRING"},
});

const TypeNames& names_of(TensorType type) {
  const auto* const found = std::ranges::find(kTypeNames, type, &TypeNames::type);
  ENSURE(found != kTypeNames.end());
  return *found;
}

std::optional<TensorType> find_type(std::string_view name, std::string_view TypeNames::* which) {
  const auto* const found = std::ranges::find(kTypeNames, name, which);
  if (found == kTypeNames.end()) return std::nullopt;
  return found->type;
}

}  // namespace

std::string_view name_of(TensorType type) { return names_of(type).name; }
std::string_view config_name_of(TensorType type) { return names_of(type).config_name; }

std::optional<TensorType> tensor_type_named(std::string_view name) { return find_type(name, &TypeNames::name); }
std::optional<TensorType> tensor_type_of_config(std::string_view name) {
  return find_type(name, &TypeNames::config_name);
}

std::size_t element_bytes(TensorType type) {
  switch (type) {
    case TensorType::kBool:
    case TensorType::kUint8:
    case TensorType::kInt8:
      return 1;
    case TensorType::kUint16:
    case TensorType::kInt16:
    case TensorType::kFp16:
    case TensorType::kBf16:
      return 2;
    case TensorType::kUint32:
    case TensorType::kInt32:
    case TensorType::kFp32:
      return 4;
    case TensorType::kUint64:
    case TensorType::kInt64:
    case TensorType::kFp64:
      return 8;
    case TensorType::kBytes:
      break;
  }
  ENSURE(type != TensorType::kBytes);
  return 0;
}

}  // namespace berth
