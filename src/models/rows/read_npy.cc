#include "models/rows/read_npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "models/rows/detail/npy_header.h"

namespace berth::models {
namespace {

using detail::NpyHeader;
using detail::NpyKind;

struct NumberType {
  NpyKind kind;
  std::size_t bytes;
  TensorType type;
};

constexpr auto kNumberTypes = std::to_array<NumberType>({
    {NpyKind::kBool, 1, TensorType::kBool},
    {NpyKind::kSigned, 1, TensorType::kInt8},
    {NpyKind::kSigned, 2, TensorType::kInt16},
    {NpyKind::kSigned, 4, TensorType::kInt32},
    {NpyKind::kSigned, 8, TensorType::kInt64},
    {NpyKind::kUnsigned, 1, TensorType::kUint8},
    {NpyKind::kUnsigned, 2, TensorType::kUint16},
    {NpyKind::kUnsigned, 4, TensorType::kUint32},
    {NpyKind::kUnsigned, 8, TensorType::kUint64},
    {NpyKind::kFloat, 2, TensorType::kFp16},
    {NpyKind::kFloat, 4, TensorType::kFp32},
    {NpyKind::kFloat, 8, TensorType::kFp64},
});

/// Nothing: no tensor has such elements.
std::optional<TensorType> tensor_type_of(const NpyHeader& header) {
  if (header.kind == NpyKind::kUnicode || header.kind == NpyKind::kText) return TensorType::kBytes;
  const auto* const found = std::ranges::find_if(kNumberTypes, [&](const NumberType& each) {
    return each.kind == header.kind && each.bytes == header.element_bytes;
  });
  return found == kNumberTypes.end() ? std::nullopt : std::optional(found->type);
}

/// The number of elements; nothing if they take more than kArrayBytesMax. Elements without bytes count as one byte.
std::optional<std::uint64_t> count_elements(const NpyHeader& header) {
  const std::uint64_t most = kArrayBytesMax / std::max<std::uint64_t>(header.element_bytes, 1);
  std::uint64_t count = 1;
  for (const std::int64_t size : header.shape) {
    if (size == 0) return 0;
  }
  for (const std::int64_t size : header.shape) {
    if (static_cast<std::uint64_t>(size) > most / count) return std::nullopt;
    count *= static_cast<std::uint64_t>(size);
  }
  return count;
}

/// For each element row by row, its index in a file where the first dimension changes fastest.
class FortranOrder {
 public:
  explicit FortranOrder(const std::vector<std::int64_t>& shape) : shape_(shape), place_(shape.size()), steps_(shape) {
    std::int64_t step = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) steps_[i] = std::exchange(step, step * shape[i]);
  }

  std::size_t next() {
    const auto index = static_cast<std::size_t>(index_);
    for (std::size_t i = shape_.size(); i-- > 0;) {
      index_ += steps_[i];
      if (++place_[i] < shape_[i]) break;
      index_ -= steps_[i] * shape_[i];
      place_[i] = 0;
    }
    return index;
  }

 private:
  const std::vector<std::int64_t>& shape_;
  std::vector<std::int64_t> place_;
  std::vector<std::int64_t> steps_;
  std::int64_t index_ = 0;
};

/// The elements row by row.
std::string in_row_order(const NpyHeader& header, std::string_view elements, std::size_t count) {
  if (!header.is_fortran_order || header.shape.size() < 2) return std::string(elements);
  std::string ordered;
  ordered.reserve(elements.size());
  FortranOrder order(header.shape);
  for (std::size_t i = 0; i < count; ++i) {
    ordered.append(elements, order.next() * header.element_bytes, header.element_bytes);
  }
  return ordered;
}

void swap_bytes(std::string& elements, std::size_t unit) {
  for (std::size_t first = 0; first + unit <= elements.size(); first += unit) {
    const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(first);
    std::reverse(begin, begin + static_cast<std::ptrdiff_t>(unit));
  }
}

/// Adds the character as UTF-8; false if it is none.
bool append_utf8(std::string& text, std::uint32_t character) {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80U | ((character >> shift) & 0x3FU)); };
  if (character > 0x10FFFF || (character >= 0xD800 && character <= 0xDFFF)) return false;
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += static_cast<char>(0xC0U | (character >> 6U));
    text += tail(0);
  } else if (character < 0x10000) {
    text += static_cast<char>(0xE0U | (character >> 12U));
    (text += tail(6)) += tail(0);
  } else {
    text += static_cast<char>(0xF0U | (character >> 18U));
    ((text += tail(12)) += tail(6)) += tail(0);
  }
  return true;
}

/// Of little-endian characters of four bytes.
std::optional<std::string> text_of_unicode(std::string_view element) {
  constexpr std::size_t kCharacter = 4;
  while (element.ends_with(std::string_view("\0\0\0\0", kCharacter))) element.remove_suffix(kCharacter);
  std::string text;
  for (; !element.empty(); element.remove_prefix(kCharacter)) {
    std::uint32_t character = 0;
    for (std::size_t i = kCharacter; i-- > 0;) character = character << 8U | static_cast<unsigned char>(element[i]);
    if (!append_utf8(text, character)) return std::nullopt;
  }
  return text;
}

Result<std::vector<std::string>> texts_of(const NpyHeader& header, std::string_view elements, std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view element = elements.substr(i * header.element_bytes, header.element_bytes);
    if (header.kind == NpyKind::kText) {
      while (element.ends_with('\0')) element.remove_suffix(1);
      texts.emplace_back(element);
      continue;
    }
    auto text = text_of_unicode(element);
    if (!text) return invalid(fmt::format("element {}: wanted Unicode characters, found another number", i));
    texts.push_back(std::move(*text));
  }
  return texts;
}

}  // namespace

Result<Tensor> read_npy(std::string_view bytes, std::string_view name) {
  const auto header = detail::read_npy_header(bytes);
  if (!header) return pass_on(header.error());
  const auto type = tensor_type_of(*header);
  if (!type) {
    return invalid(fmt::format("wanted elements of a type b1, i1 to i8, u1 to u8, f2, f4, f8, U or S, found {}",
                               in_quotes(header->descr)));
  }
  const auto count = count_elements(*header);
  if (!count) return invalid(fmt::format("wanted at most {} bytes, found a shape that takes more", kArrayBytesMax));
  const std::string_view rest = bytes.substr(header->bytes);
  if (rest.size() != *count * header->element_bytes) {
    return invalid(fmt::format("wanted {} bytes of elements, as the shape says, found {}",
                               *count * header->element_bytes, rest.size()));
  }
  Tensor tensor{.name = std::string(name), .type = *type, .shape = header->shape};
  tensor.bytes = in_row_order(*header, rest, *count);
  if (header->is_big_endian) {
    swap_bytes(tensor.bytes, header->kind == NpyKind::kUnicode ? 4 : std::max<std::size_t>(header->element_bytes, 1));
  }
  if (*type == TensorType::kBool) {
    std::ranges::transform(tensor.bytes, tensor.bytes.begin(), [](char byte) { return byte == 0 ? '\0' : '\1'; });
  }
  if (*type != TensorType::kBytes) return tensor;
  auto texts = texts_of(*header, tensor.bytes, *count);
  if (!texts) return pass_on(texts.error());
  tensor.texts = std::move(*texts);
  tensor.bytes.clear();
  return tensor;
}

}  // namespace berth::models
