/// The weights of a model: tensors that do not change, shared between copies of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth::models {

/// The types of elements, with the numbers of TensorProto.DataType
/// (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). Other numbers may occur: types that came later.
enum class ElementType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4m3fn = 17,
  kFloat8E4m3fnuz = 18,
  kFloat8E5m2 = 19,
  kFloat8E5m2fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2m1 = 23,
  kFloat8E8m0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2m3 = 27,
  kFloat6E3m2 = 28,
};

/// Such as "float", as in the text format of ONNX; "type 99" for a number without a name.
[[nodiscard]] std::string name_of(ElementType type);

/// Bits of one element; 0 for strings and types without a name.
[[nodiscard]] int element_bits(ElementType type);

/// Sizes of the dimensions, each at least 0. Empty: one element.
using Dims = std::vector<std::int64_t>;

/// The product; 1 without dimensions. Requires: it is below 2^63.
[[nodiscard]] std::int64_t count_of(const Dims& dims);

/// The bytes of so many elements, those of fewer than 8 bits packed; 0 where element_bits is 0. Requires: below 2^60.
[[nodiscard]] std::size_t byte_size(ElementType type, const Dims& dims);

/// A tensor that does not change. `bytes` holds the elements row by row, little-endian, those of less than 8 bits
/// without gaps between them, from the low bits of a byte on; `texts` those of type kString.
struct Constant {
  ElementType type = ElementType::kFloat;
  Dims dims = {};
  std::string bytes = {};
  std::vector<std::string> texts = {};

  friend bool operator==(const Constant&, const Constant&) = default;
};

/// Never null.
using ConstantPtr = std::shared_ptr<const Constant>;

[[nodiscard]] ConstantPtr share(Constant constant);

/// Requires: as many values as `dims` say.
[[nodiscard]] ConstantPtr floats(Dims dims, const std::vector<float>& values);
[[nodiscard]] ConstantPtr int64s(Dims dims, const std::vector<std::int64_t>& values);
[[nodiscard]] ConstantPtr int32s(Dims dims, const std::vector<std::int32_t>& values);
[[nodiscard]] ConstantPtr int8s(Dims dims, const std::vector<std::int8_t>& values);
[[nodiscard]] ConstantPtr uint8s(Dims dims, const std::vector<std::uint8_t>& values);
/// One element, no dimensions.
[[nodiscard]] ConstantPtr float_scalar(float value);

/// The elements. Requires: that type.
[[nodiscard]] std::vector<float> to_floats(const Constant& constant);
[[nodiscard]] std::vector<std::int64_t> to_int64s(const Constant& constant);

}  // namespace berth::models
