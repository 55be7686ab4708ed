#include "serving/protocol/datatype.h"

#include <array>

#include "base/core/ensure.h"

namespace berth::serving::protocol {
namespace {

struct NamedType {
  TensorType type;
  std::string_view config_name;  ///< a prefix, then the name in the protocol; see kBytesName
};

constexpr std::string_view kConfigPrefix = "TYPE_";
constexpr std::string_view kBytesName = "BYTES";

// In the order of TensorType.
constexpr std::array kNamedTypes{
    NamedType{.type = TensorType::kBool, .config_name = "TYPE_BOOL"},
    NamedType{.type = TensorType::kUint8, .config_name = "TYPE_UINT8"},
    NamedType{.type = TensorType::kUint16, .config_name = "TYPE_UINT16"},
    NamedType{.type = TensorType::kUint32, .config_name = "TYPE_UINT32"},
    NamedType{.type = TensorType::kUint64, .config_name = "TYPE_UINT64"},
    NamedType{.type = TensorType::kInt8, .config_name = "TYPE_INT8"},
    NamedType{.type = TensorType::kInt16, .config_name = "TYPE_INT16"},
    NamedType{.type = TensorType::kInt32, .config_name = "TYPE_INT32"},
    NamedType{.type = TensorType::kInt64, .config_name = "TYPE_INT64"},
    NamedType{.type = TensorType::kFp16, .config_name = "TYPE_FP16"},
    NamedType{.type = TensorType::kBf16, .config_name = "TYPE_BF16"},
    NamedType{.type = TensorType::kFp32, .config_name = "TYPE_FP32"},
    NamedType{.type = TensorType::kFp64, .config_name = "TYPE_FP64"},
    NamedType{.type = TensorType::kBytes, .config_name = "TYPE_STRING"},
};

constexpr std::string_view protocol_name(const NamedType& named) {
  return named.type == TensorType::kBytes ? kBytesName : named.config_name.substr(kConfigPrefix.size());
}

const NamedType& named_type(TensorType type) {
  const NamedType& named = kNamedTypes.at(static_cast<std::size_t>(type));
  ENSURE(named.type == type);
  return named;
}

}  // namespace

std::string_view datatype_name(TensorType type) { return protocol_name(named_type(type)); }

std::optional<TensorType> find_datatype(std::string_view name) {
  for (const NamedType& named : kNamedTypes) {
    if (protocol_name(named) == name) return named.type;
  }
  return std::nullopt;
}

std::string_view config_datatype_name(TensorType type) { return named_type(type).config_name; }

}  // namespace berth::serving::protocol
