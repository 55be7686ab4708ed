#include "models/onnx/detail/tensor_proto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/core/text.h"
#include "models/onnx/read_model.h"

namespace berth::models::detail {
namespace {

/// The fields of a TensorProto that may hold its elements.
enum class Elements { kFloats, kInt32s, kInt64s, kDoubles, kUint64s, kTexts, kRawOnly };

Elements elements_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kComplex64:
      return Elements::kFloats;
    case ElementType::kDouble:
    case ElementType::kComplex128:
      return Elements::kDoubles;
    case ElementType::kInt64:
      return Elements::kInt64s;
    case ElementType::kUint32:
    case ElementType::kUint64:
      return Elements::kUint64s;
    case ElementType::kString:
      return Elements::kTexts;
    default:
      return element_bits(type) == 0 ? Elements::kRawOnly : Elements::kInt32s;
  }
}

std::string tensor_text(const onnx::TensorProto& tensor) {
  return tensor.name().empty() ? "a tensor" : fmt::format("tensor {}", in_quotes(tensor.name()));
}

template <class T, class Values>
std::string bytes_from(const Values& values) {
  std::string bytes(static_cast<std::size_t>(values.size()) * sizeof(T), '\0');
  char* to = bytes.data();
  for (const auto value : values) {
    const auto element = static_cast<T>(value);
    std::memcpy(to, &element, sizeof(T));
    to += sizeof(T);
  }
  return bytes;
}

/// Of the numbers in int32_data, the first that does not fit into that many bits, signed or not.
std::optional<int> misfit(const onnx::TensorProto& tensor, int bits) {
  if (bits >= 32) return std::nullopt;
  const int bits_in_field = std::max(bits, 8);
  const auto found = std::ranges::find_if(tensor.int32_data(), [&](std::int32_t number) {
    return number < -(1 << (bits_in_field - 1)) || number >= 1 << bits_in_field;
  });
  if (found == tensor.int32_data().end()) return std::nullopt;
  return static_cast<int>(found - tensor.int32_data().begin());
}

/// Numbers of 6 bits stand one in each int32; without gaps they are in raw data.
std::string packed_sixes(const onnx::TensorProto& tensor) {
  std::string bytes((static_cast<std::size_t>(tensor.int32_data_size()) * 6 + 7) / 8, '\0');
  std::size_t bit = 0;
  for (const std::int32_t number : tensor.int32_data()) {
    const std::uint32_t shifted = (static_cast<std::uint32_t>(number) & 0x3F) << (bit % 8);
    bytes[bit / 8] = static_cast<char>(static_cast<std::uint8_t>(bytes[bit / 8]) | (shifted & 0xFF));
    if (shifted > 0xFF) bytes[bit / 8 + 1] = static_cast<char>(shifted >> 8);
    bit += 6;
  }
  return bytes;
}

/// Numbers of less than 32 bits stand one in each int32, those of 2 and 4 bits packed as in raw data.
std::string bytes_from_int32s(const onnx::TensorProto& tensor, int bits) {
  if (bits == 32) return bytes_from<std::int32_t>(tensor.int32_data());
  if (bits == 16) return bytes_from<std::uint16_t>(tensor.int32_data());
  if (bits == 6) return packed_sixes(tensor);
  return bytes_from<std::uint8_t>(tensor.int32_data());
}

/// Of the field for that type.
std::string bytes_from_fields(const onnx::TensorProto& tensor, ElementType type) {
  switch (elements_of(type)) {
    case Elements::kFloats:
      return bytes_from<float>(tensor.float_data());
    case Elements::kDoubles:
      return bytes_from<double>(tensor.double_data());
    case Elements::kInt32s:
      return bytes_from_int32s(tensor, element_bits(type));
    case Elements::kInt64s:
      return bytes_from<std::int64_t>(tensor.int64_data());
    case Elements::kUint64s:
      if (type == ElementType::kUint32) return bytes_from<std::uint32_t>(tensor.uint64_data());
      return bytes_from<std::uint64_t>(tensor.uint64_data());
    case Elements::kTexts:
    case Elements::kRawOnly:
      break;
  }
  return {};
}

void clear_elements(onnx::TensorProto& tensor) {
  tensor.clear_dims();
  tensor.clear_data_type();
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_string_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

Result<void> take_texts(onnx::TensorProto& tensor, std::int64_t count, Constant& constant) {
  if (std::cmp_not_equal(tensor.string_data_size(), count)) {
    return invalid(fmt::format("{}: wanted {} texts for its shape, found {}", tensor_text(tensor), count,
                               tensor.string_data_size()));
  }
  constant.texts.reserve(static_cast<std::size_t>(count));
  for (std::string& text : *tensor.mutable_string_data()) constant.texts.push_back(std::move(text));
  return {};
}

Result<void> take_numbers(onnx::TensorProto& tensor, Constant& constant) {
  if (const std::optional<int> index = misfit(tensor, element_bits(constant.type)); index && !tensor.has_raw_data()) {
    return invalid(fmt::format("{}: element {} is {}, which {} does not hold", tensor_text(tensor), *index,
                               tensor.int32_data(*index), name_of(constant.type)));
  }
  constant.bytes =
      tensor.has_raw_data() ? std::move(*tensor.mutable_raw_data()) : bytes_from_fields(tensor, constant.type);
  if (element_bits(constant.type) == 0) {
    if (tensor.has_raw_data()) return {};
    return invalid(
        fmt::format("{}: elements of {} can be read as raw data only", tensor_text(tensor), name_of(constant.type)));
  }
  const std::size_t wanted = byte_size(constant.type, constant.dims);
  if (constant.bytes.size() == wanted) return {};
  return invalid(fmt::format("{}: wanted {} bytes of {} for its shape, found {}", tensor_text(tensor), wanted,
                             name_of(constant.type), constant.bytes.size()));
}

}  // namespace

Result<std::int64_t> read_count(const onnx::TensorProto& tensor) {
  // 2 bits is the least that an element has.
  constexpr auto kCountMax = static_cast<std::int64_t>(kModelBytesMax) * 4;
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t dim : tensor.dims()) {
    if (dim < 0) return invalid(fmt::format("{}: wanted sizes of at least 0, found {}", tensor_text(tensor), dim));
    is_empty = is_empty || dim == 0;
  }
  if (is_empty) return 0;
  for (const std::int64_t dim : tensor.dims()) {
    if (count > kCountMax / dim) {
      return invalid(fmt::format("{}: its shape says more elements than a file can hold", tensor_text(tensor)));
    }
    count *= dim;
  }
  return count;
}

Result<Constant> take_constant(onnx::TensorProto& tensor) {
  if (tensor.has_segment()) return invalid(fmt::format("{}: tensors in segments cannot be read", tensor_text(tensor)));
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    return invalid(fmt::format("{}: its elements are in another file", tensor_text(tensor)));
  }
  const Result<std::int64_t> count = read_count(tensor);
  if (!count) return pass_on(count.error());
  if (tensor.data_type() == onnx::TensorProto::UNDEFINED) {
    return invalid(fmt::format("{}: it has no type of elements", tensor_text(tensor)));
  }
  Constant constant{.type = static_cast<ElementType>(tensor.data_type()),
                    .dims = Dims(tensor.dims().begin(), tensor.dims().end())};
  Result<void> taken =
      constant.type == ElementType::kString ? take_texts(tensor, *count, constant) : take_numbers(tensor, constant);
  if (!taken) return pass_on(taken.error());
  clear_elements(tensor);
  return constant;
}

void put_shape(const Constant& constant, onnx::TensorProto& tensor) {
  clear_elements(tensor);
  tensor.mutable_dims()->Add(constant.dims.begin(), constant.dims.end());
  tensor.set_data_type(static_cast<std::int32_t>(constant.type));
}

void put_constant(const Constant& constant, onnx::TensorProto& tensor) {
  put_shape(constant, tensor);
  if (constant.type == ElementType::kString) {
    for (const std::string& text : constant.texts) tensor.add_string_data(text);
  } else {
    tensor.set_raw_data(constant.bytes);
  }
}

}  // namespace berth::models::detail
