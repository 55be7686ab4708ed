#include "serving/protocol/detail/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/core/text.h"

namespace berth::serving::protocol::detail {
namespace {

constexpr std::size_t kLengthBytes = 4;  // before each element of BYTES

/// What an element of a tensor is in JSON; `type` names it for messages.
template <class Element>
std::optional<Element> element_of(const JsonNumber& number) {
  if constexpr (std::same_as<Element, float>) {
    return float_of(number);
  } else if constexpr (std::same_as<Element, double>) {
    return double_of(number);
  } else {
    return integer_of<Element>(number);
  }
}

/// Reads numbers into the bytes of a tensor.
template <class Element>
class NumberSink {
 public:
  /// Each element but the last takes two bytes of the text or more, so a shape alone cannot make it large.
  NumberSink(JsonReader& reader, std::int64_t count, Tensor& tensor) : reader_(reader), tensor_(tensor) {
    const std::size_t count_max = std::min(static_cast<std::size_t>(count), reader.rest_bytes() / 2 + 1);
    tensor.bytes.resize(count_max * sizeof(Element));
  }

  [[nodiscard]] bool read(std::int64_t index) {
    JsonNumber number;
    if (!reader_.number(number)) return false;
    const auto element = element_of<Element>(number);
    if (!element) {
      return reader_.refuse(ServeFault::kMalformed,
                            fmt::format("{}, element {}: wanted {} in its range, found {}", input_title(tensor_.name),
                                        index, name_of(tensor_.type), in_quotes(number.text)));
    }
    std::memcpy(tensor_.bytes.data() + static_cast<std::size_t>(index) * sizeof(Element), &*element, sizeof(Element));
    return true;
  }

 private:
  JsonReader& reader_;
  Tensor& tensor_;
};

class TruthSink {
 public:
  TruthSink(JsonReader& reader, Tensor& tensor) : reader_(reader), tensor_(tensor) {}

  [[nodiscard]] bool read(std::int64_t /*index*/) {
    bool truth = false;
    if (!reader_.truth(truth)) return false;
    tensor_.bytes += truth ? '\1' : '\0';
    return true;
  }

 private:
  JsonReader& reader_;
  Tensor& tensor_;
};

class TextSink {
 public:
  TextSink(JsonReader& reader, Tensor& tensor) : reader_(reader), tensor_(tensor) {}

  [[nodiscard]] bool read(std::int64_t /*index*/) { return reader_.text(tensor_.texts.emplace_back()); }

 private:
  JsonReader& reader_;
  Tensor& tensor_;
};

/// Reads lists of elements, flat or nested as the shape.
template <class Sink>
class ListReader {
 public:
  ListReader(JsonReader& reader, const Tensor& tensor, Sink sink) : reader_(reader), tensor_(tensor), sink_(sink) {}

  [[nodiscard]] bool read(std::int64_t count) {
    if (tensor_.shape.empty() && reader_.peek() != '[') return sink_.read(0);
    if (is_nested()) return level(tensor_.shape);
    return level({&count, 1});
  }

 private:
  /// Whether the list begins with another one.
  [[nodiscard]] bool is_nested() {
    const std::size_t begin = reader_.place();
    if (reader_.peek() != '[') return false;
    reader_.go_to(begin + 1);
    const bool is_nested = reader_.peek() == '[';
    reader_.go_to(begin);
    return is_nested;
  }

  /// A list of as many items as the first size says.
  [[nodiscard]] bool level(std::span<const std::int64_t> sizes) {
    if (sizes.empty()) return reader_.fail("an element of a tensor without dimensions");
    const std::int64_t wanted = sizes.front();
    std::int64_t found = 0;
    const bool is_list = reader_.list([&] {
      if (found++ == wanted) return refuse_count(wanted, "more");
      return sizes.size() == 1 ? sink_.read(index_++) : level(sizes.subspan(1));
    });
    return is_list && (found == wanted || refuse_count(wanted, fmt::to_string(found)));
  }

  bool refuse_count(std::int64_t wanted, std::string_view found) {
    return reader_.refuse(
        ServeFault::kMalformed,
        fmt::format("{}: wanted {} elements in a list of its data, flat or nested as its shape, found {}",
                    input_title(tensor_.name), wanted, found));
  }

  JsonReader& reader_;
  const Tensor& tensor_;
  Sink sink_;
  std::int64_t index_ = 0;
};

template <class Sink>
bool read_list(JsonReader& reader, std::int64_t count, const Tensor& tensor, Sink sink) {
  return ListReader<Sink>(reader, tensor, sink).read(count);
}

template <class Element>
bool read_numbers(JsonReader& reader, std::int64_t count, Tensor& tensor) {
  return read_list(reader, count, tensor, NumberSink<Element>(reader, count, tensor));
}

tl::unexpected<ServeError> refuse_binary(const Tensor& tensor, std::string_view wanted, std::size_t found) {
  return refuse(ServeFault::kMalformed,
                fmt::format("{}: wanted {}, found {}", input_title(tensor.name), wanted, found));
}

ServeResult<void> read_binary_texts(std::string_view data, std::int64_t count, Tensor& tensor) {
  const std::size_t bytes = data.size();
  tensor.texts.reserve(std::min(static_cast<std::size_t>(count), bytes / kLengthBytes));
  while (!data.empty()) {
    std::uint32_t length = 0;
    if (data.size() < kLengthBytes) return refuse_binary(tensor, "4 bytes of an element's length", data.size());
    std::memcpy(&length, data.data(), kLengthBytes);
    data.remove_prefix(kLengthBytes);
    if (data.size() < length) {
      return refuse_binary(tensor, fmt::format("an element of {} bytes", length), data.size());
    }
    if (std::cmp_equal(tensor.texts.size(), count)) {
      return refuse_binary(tensor,
                           fmt::format("{} elements in {} bytes of data, and no bytes behind them", count, bytes),
                           kLengthBytes + data.size());
    }
    tensor.texts.emplace_back(data.substr(0, length));
    data.remove_prefix(length);
  }
  if (std::cmp_equal(tensor.texts.size(), count)) return {};
  return refuse_binary(tensor, fmt::format("{} elements in {} bytes of data", count, bytes), tensor.texts.size());
}

}  // namespace

std::string input_title(std::string_view name) { return fmt::format("input {}", in_quotes(name)); }

bool read_json_data(JsonReader& reader, std::int64_t count, Tensor& tensor) {
  switch (tensor.type) {
    case TensorType::kBool:
      return read_list(reader, count, tensor, TruthSink(reader, tensor));
    case TensorType::kUint8:
      return read_numbers<std::uint8_t>(reader, count, tensor);
    case TensorType::kUint16:
      return read_numbers<std::uint16_t>(reader, count, tensor);
    case TensorType::kUint32:
      return read_numbers<std::uint32_t>(reader, count, tensor);
    case TensorType::kUint64:
      return read_numbers<std::uint64_t>(reader, count, tensor);
    case TensorType::kInt8:
      return read_numbers<std::int8_t>(reader, count, tensor);
    case TensorType::kInt16:
      return read_numbers<std::int16_t>(reader, count, tensor);
    case TensorType::kInt32:
      return read_numbers<std::int32_t>(reader, count, tensor);
    case TensorType::kInt64:
      return read_numbers<std::int64_t>(reader, count, tensor);
    case TensorType::kFp32:
      return read_numbers<float>(reader, count, tensor);
    case TensorType::kFp64:
      return read_numbers<double>(reader, count, tensor);
    case TensorType::kBytes:
      return read_list(reader, count, tensor, TextSink(reader, tensor));
    case TensorType::kFp16:
    case TensorType::kBf16:
      break;
  }
  return reader.refuse(ServeFault::kMalformed,
                       fmt::format("{}: wanted binary data, as {} has no form in JSON, found JSON",
                                   input_title(tensor.name), name_of(tensor.type)));
}

ServeResult<void> read_binary_data(std::string_view data, std::int64_t count, Tensor& tensor) {
  if (tensor.type == TensorType::kBytes) return read_binary_texts(data, count, tensor);
  // No overflow: a count is below 2^31.
  const std::size_t wanted = static_cast<std::size_t>(count) * element_bytes(tensor.type);
  if (data.size() != wanted) {
    return refuse_binary(
        tensor, fmt::format("{} bytes of binary data for {} elements of {}", wanted, count, name_of(tensor.type)),
        data.size());
  }
  if (tensor.type == TensorType::kBool) {
    const auto bad = std::ranges::find_if(data, [](char byte) { return byte != '\0' && byte != '\1'; });
    if (bad != data.end()) return refuse_binary(tensor, "bytes of 0 or 1", static_cast<unsigned char>(*bad));
  }
  tensor.bytes = data;
  return {};
}

}  // namespace berth::serving::protocol::detail
