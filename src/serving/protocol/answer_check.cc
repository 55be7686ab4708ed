#include "serving/protocol/answer_check.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/tree.h"
#include "domain/values/tensor.h"

namespace berth::serving::protocol {
namespace {

/// The bits of a floating-point type: a number is NaN if all of its exponent is set, and some of the rest.
struct FloatBits {
  std::size_t bytes = 0;
  std::uint64_t exponent = 0;
  std::uint64_t fraction = 0;
};

std::optional<FloatBits> float_bits(TensorType type) {
  switch (type) {
    case TensorType::kFp16:
      return FloatBits{.bytes = 2, .exponent = 0x7C00, .fraction = 0x03FF};
    case TensorType::kBf16:
      return FloatBits{.bytes = 2, .exponent = 0x7F80, .fraction = 0x007F};
    case TensorType::kFp32:
      return FloatBits{.bytes = 4, .exponent = 0x7F80'0000, .fraction = 0x007F'FFFF};
    case TensorType::kFp64:
      return FloatBits{.bytes = 8, .exponent = 0x7FF0'0000'0000'0000, .fraction = 0x000F'FFFF'FFFF'FFFF};
    case TensorType::kBool:
    case TensorType::kUint8:
    case TensorType::kUint16:
    case TensorType::kUint32:
    case TensorType::kUint64:
    case TensorType::kInt8:
    case TensorType::kInt16:
    case TensorType::kInt32:
    case TensorType::kInt64:
    case TensorType::kBytes:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The first element that is NaN, of little-endian numbers.
std::optional<std::size_t> find_nan(std::string_view data, const FloatBits& bits) {
  for (std::size_t element = 0; (element + 1) * bits.bytes <= data.size(); ++element) {
    std::uint64_t number = 0;
    for (std::size_t i = bits.bytes; i-- > 0;) {
      number = number << 8U | static_cast<unsigned char>(data[element * bits.bytes + i]);
    }
    if ((number & bits.exponent) == bits.exponent && (number & bits.fraction) != 0) return element;
  }
  return std::nullopt;
}

/// The first element that is null, counted over nested lists; `before` are those that were counted.
std::optional<std::size_t> find_null(const yaml::List& data, std::size_t& before) {
  for (const yaml::Node& node : data) {
    if (const yaml::List* const inner = json::list_in(node)) {
      if (const auto found = find_null(*inner, before)) return found;
      continue;
    }
    if (node.is_null()) return before;
    ++before;
  }
  return std::nullopt;
}

class AnswerCheck {
 public:
  AnswerCheck(std::string_view data, std::string_view source) : data_(data), source_(source) {}

  Result<void> check(const yaml::Node& output, std::size_t index) {
    const yaml::Node* const elements = json::find_member(output, "data");
    const yaml::List* const list = elements != nullptr ? json::list_in(*elements) : nullptr;
    std::size_t counted = 0;
    if (const auto null = list != nullptr ? find_null(*list, counted) : std::nullopt) {
      return wrong(output, index, fmt::format("wanted numbers, found null as element {}", *null));
    }
    const yaml::Node* const parameters = json::find_member(output, "parameters");
    const yaml::Node* const size = parameters != nullptr ? json::find_member(*parameters, "binary_data_size") : nullptr;
    return size != nullptr ? check_binary(output, index, *size) : Result<void>();
  }

 private:
  Result<void> check_binary(const yaml::Node& output, std::size_t index, const yaml::Node& size) {
    const auto bytes = json::integer_in<std::size_t>(size);
    if (!bytes || *bytes > data_.size()) {
      return wrong(output, index, fmt::format("wanted a binary_data_size of at most {} bytes", data_.size()));
    }
    const std::string_view own = data_.substr(0, *bytes);
    data_.remove_prefix(*bytes);
    const yaml::Node* const datatype = json::find_member(output, "datatype");
    const std::string* const name = datatype != nullptr ? json::text_in(*datatype) : nullptr;
    const auto type = name != nullptr ? tensor_type_named(*name) : std::nullopt;
    const auto bits = type ? float_bits(*type) : std::nullopt;
    const auto nan = bits ? find_nan(own, *bits) : std::nullopt;
    if (nan) return wrong(output, index, fmt::format("wanted numbers, found NaN as element {}", *nan));
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> wrong(const yaml::Node& output, std::size_t index, std::string_view what) const {
    const yaml::Node* const member = json::find_member(output, "name");
    const std::string* const name = member != nullptr ? json::text_in(*member) : nullptr;
    return invalid(
        fmt::format("{}: outputs[{}]{}: {}", source_, index, name != nullptr ? " " + in_quotes(*name) : "", what));
  }

  std::string_view data_;  ///< that of the outputs which were not checked yet
  std::string_view source_;
};

}  // namespace

Result<void> check_infer_answer(std::string_view head, std::string_view data, std::string_view source,
                                std::size_t head_bytes_max) {
  const auto tree = json::parse_document(head, source, {.text_bytes_max = head_bytes_max, .value_count_max = SIZE_MAX});
  if (!tree) return invalid(tree.error().message);
  const yaml::Node* const outputs = json::find_member(*tree, "outputs");
  const yaml::List* const list = outputs != nullptr ? json::list_in(*outputs) : nullptr;
  if (list == nullptr) return invalid(fmt::format("{}: outputs: wanted a list, found none", source));
  AnswerCheck check(data, source);
  for (std::size_t index = 0; index < list->size(); ++index) {
    if (auto checked = check.check((*list)[index], index); !checked) return checked;
  }
  return {};
}

}  // namespace berth::serving::protocol
