#include "serving/service/tensor_wire.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

namespace berth::serving {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::size_t length_at(std::string_view data) {
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8U | static_cast<unsigned char>(data[i]);
  return length;
}

void append_length(std::string& data, std::size_t length) {
  for (std::size_t i = 0; i < kLengthBytes; ++i) data += static_cast<char>(length >> (8U * i) & 0xFFU);
}

tl::unexpected<ServeError> malformed(const Tensor& head, const std::string& wanted, const std::string& found) {
  return refuse(ServeFault::kMalformed, fmt::format("{}: wanted {}, found {}", tensor_label(head), wanted, found));
}

ServeResult<Tensor> with_texts(Tensor head, std::string_view data, std::int64_t count) {
  if (count > kTextCountMax) {
    return refuse(ServeFault::kTooLarge,
                  fmt::format("{}: wanted at most {} texts, found {}", tensor_label(head), kTextCountMax, count));
  }
  const std::string wanted = fmt::format("{} texts, each after its length in 4 bytes", count);
  std::vector<std::string> texts;
  texts.reserve(std::min(static_cast<std::size_t>(count), data.size() / kLengthBytes));
  for (std::int64_t i = 0; i < count; ++i) {
    if (data.size() < kLengthBytes || length_at(data) > data.size() - kLengthBytes) {
      return malformed(head, wanted, fmt::format("the end of the data in text {}", i));
    }
    texts.emplace_back(data.substr(kLengthBytes, length_at(data)));
    data.remove_prefix(kLengthBytes + length_at(data));
  }
  if (!data.empty()) return malformed(head, wanted, fmt::format("{} more bytes", data.size()));
  head.texts = std::move(texts);
  return head;
}

}  // namespace

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; })) return std::nullopt;
  // No product of others is too large if there are no elements at all.
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

ServeResult<Tensor> tensor_of_binary(Tensor head, std::string data) {
  const std::optional<std::int64_t> count = element_count(head.shape);
  if (!count) return malformed(head, "dimensions of at least 0, below 2^63 elements", "others");
  if (head.type == TensorType::kBytes) return with_texts(std::move(head), data, *count);
  const std::size_t each = element_bytes(head.type);
  if (data.size() % each != 0 || data.size() / each != static_cast<std::uint64_t>(*count)) {
    return malformed(head, fmt::format("{} x {} bytes", *count, each), fmt::format("{} bytes", data.size()));
  }
  const auto is_no_bool = [](char value) { return value != 0 && value != 1; };
  if (head.type == TensorType::kBool && std::ranges::any_of(data, is_no_bool)) {
    return malformed(head, "bytes of 0 or 1", "another value");
  }
  head.bytes = std::move(data);
  return head;
}

std::string binary_of(Tensor tensor) {
  if (tensor.type != TensorType::kBytes) return std::move(tensor.bytes);
  std::size_t size = 0;
  for (const std::string& text : tensor.texts) size += kLengthBytes + text.size();
  std::string data;
  data.reserve(size);
  for (const std::string& text : tensor.texts) {
    append_length(data, text.size());
    data += text;
  }
  return data;
}

std::string tensor_label(const Tensor& tensor) {
  constexpr std::size_t kDimensionCountMax = 16;
  const auto shown = std::span(tensor.shape).first(std::min(tensor.shape.size(), kDimensionCountMax));
  const bool is_whole = shown.size() == tensor.shape.size();
  return fmt::format("tensor \"{}\" of {} with the shape [{}{}]", tensor.name, name_of(tensor.type),
                     fmt::join(shown, ","), is_whole ? "" : ",...");
}

}  // namespace berth::serving
