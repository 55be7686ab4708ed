/// Tensors: the inputs and outputs of machine-learning models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// The types of elements that models take and give. kBytes: texts of any length.
enum class TensorType : std::uint8_t {
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kBf16,
  kFp32,
  kFp64,
  kBytes,
};

/// The bytes of an element. Requires: not kBytes.
[[nodiscard]] std::size_t element_bytes(TensorType type);

/// As in the Open Inference Protocol, such as "FP32".
[[nodiscard]] std::string_view name_of(TensorType type);
/// As in Triton's configurations of models, such as "TYPE_FP32", and "TYPE_STRING" for kBytes.
[[nodiscard]] std::string_view config_name_of(TensorType type);
/// Nothing if no type has that name.
[[nodiscard]] std::optional<TensorType> tensor_type_named(std::string_view name);
[[nodiscard]] std::optional<TensorType> tensor_type_of_config(std::string_view name);

/// What a model says of one of its inputs or outputs.
struct TensorSignature {
  std::string name;
  TensorType type = TensorType::kFp32;
  std::vector<std::int64_t> shape = {};  ///< -1: any size

  friend bool operator==(const TensorSignature&, const TensorSignature&) = default;
};

/// A tensor, row by row: `texts` for kBytes, else `bytes`, little-endian.
struct Tensor {
  std::string name;
  TensorType type = TensorType::kFp32;
  std::vector<std::int64_t> shape = {};
  std::string bytes = {};
  std::vector<std::string> texts = {};

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

}  // namespace berth
