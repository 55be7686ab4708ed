#include "domain/values/tensor.h"

#include <algorithm>
#include <array>

#include "base/core/ensure.h"

namespace berth {
namespace {

/// By type.
constexpr std::array<std::string_view, 14> kTypeNames = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64",
                                                         "INT8", "INT16", "INT32",  "INT64",  "FP16",
                                                         "BF16", "FP32",  "FP64",   "BYTES"};

}  // namespace

std::string_view name_of(TensorType type) { return kTypeNames.at(static_cast<std::size_t>(type)); }

std::optional<TensorType> tensor_type_named(std::string_view name) {
  const auto found = std::ranges::find(kTypeNames, name);
  if (found == kTypeNames.end()) return std::nullopt;
  return static_cast<TensorType>(found - kTypeNames.begin());
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
