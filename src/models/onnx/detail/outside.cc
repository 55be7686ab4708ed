#include "models/onnx/detail/outside.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/control_text.h"
#include "base/core/text.h"
#include "models/graph/constant.h"
#include "models/onnx/detail/tensor_proto.h"

namespace berth::models::detail {
namespace {

/// Where the elements of a tensor are.
struct OutsidePlace {
  std::string path;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> bytes = std::nullopt;
};

/// Whether the path is relative and does not leave the folder by its own words.
bool stays_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || find_bad_utf8(path) != std::string_view::npos || has_control(path)) {
    return false;
  }
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

Result<std::uint64_t> read_number(const std::string& text, std::string_view key) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number <= INT64_MAX) return number;
  return invalid(fmt::format("{}: wanted a number of bytes, found {}", key, in_quotes(text)));
}

Result<OutsidePlace> read_place(const onnx::TensorProto& tensor) {
  OutsidePlace place;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.path = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const Result<std::uint64_t> number = read_number(entry.value(), entry.key());
    if (!number) return pass_on(number.error());
    (entry.key() == "offset" ? place.offset : place.bytes.emplace()) = *number;
  }
  if (!stays_inside(place.path)) {
    return invalid(fmt::format("wanted the path of a file below the model's folder, found {}", in_quotes(place.path)));
  }
  return place;
}

class OutsideReading {
 public:
  OutsideReading(std::uint64_t bytes, const ReadOutside& read) : bytes_left_(kModelBytesMax - bytes), read_(read) {}

  Result<void> read_in(onnx::TensorProto& tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return {};
    Result<void> done = read_elements(tensor);
    if (done) return done;
    return fail(done.error().code, fmt::format("weights of {}: {}", in_quotes(tensor.name()), done.error().message));
  }

  Result<void> read_in(onnx::SparseTensorProto& tensor) {
    if (tensor.has_values()) {
      if (Result<void> done = read_in(*tensor.mutable_values()); !done) return done;
    }
    return tensor.has_indices() ? read_in(*tensor.mutable_indices()) : Result<void>();
  }

  Result<void> read_in(onnx::AttributeProto& attribute) {
    if (attribute.has_t()) {
      if (Result<void> done = read_in(*attribute.mutable_t()); !done) return done;
    }
    if (attribute.has_g()) {
      if (Result<void> done = read_in(*attribute.mutable_g()); !done) return done;
    }
    if (attribute.has_sparse_tensor()) {
      if (Result<void> done = read_in(*attribute.mutable_sparse_tensor()); !done) return done;
    }
    if (Result<void> done = read_in_each(*attribute.mutable_tensors()); !done) return done;
    if (Result<void> done = read_in_each(*attribute.mutable_graphs()); !done) return done;
    return read_in_each(*attribute.mutable_sparse_tensors());
  }

  Result<void> read_in(onnx::NodeProto& node) { return read_in_each(*node.mutable_attribute()); }
  Result<void> read_in(onnx::FunctionProto& function) { return read_in_each(*function.mutable_node()); }

  Result<void> read_in(onnx::GraphProto& graph) {
    if (Result<void> done = read_in_each(*graph.mutable_initializer()); !done) return done;
    if (Result<void> done = read_in_each(*graph.mutable_sparse_initializer()); !done) return done;
    return read_in_each(*graph.mutable_node());
  }

  Result<void> read_in(onnx::TrainingInfoProto& training) {
    if (training.has_initialization()) {
      if (Result<void> done = read_in(*training.mutable_initialization()); !done) return done;
    }
    return training.has_algorithm() ? read_in(*training.mutable_algorithm()) : Result<void>();
  }

  template <class Messages>
  Result<void> read_in_each(Messages& messages) {
    for (auto& message : messages) {
      if (Result<void> done = read_in(message); !done) return done;
    }
    return {};
  }

 private:
  Result<void> read_elements(onnx::TensorProto& tensor) {
    const Result<OutsidePlace> place = read_place(tensor);
    if (!place) return pass_on(place.error());
    const Result<std::uint64_t> bytes = bytes_to_read(tensor, *place);
    if (!bytes) return pass_on(bytes.error());
    if (*bytes > bytes_left_) return invalid(fmt::format("more than {} bytes, with the model", kModelBytesMax));
    Result<std::string> elements = std::string();
    if (*bytes > 0) elements = read_(place->path, place->offset, *bytes);
    if (!elements) return pass_on(elements.error());
    if (elements->size() != *bytes) {
      return invalid(fmt::format("wanted {} bytes of {} from byte {} on, found {}", *bytes, in_quotes(place->path),
                                 place->offset, elements->size()));
    }
    bytes_left_ -= *bytes;
    *tensor.mutable_raw_data() = std::move(*elements);
    tensor.clear_external_data();
    tensor.clear_data_location();
    return {};
  }

  static Result<std::uint64_t> bytes_to_read(const onnx::TensorProto& tensor, const OutsidePlace& place) {
    const auto type = static_cast<ElementType>(tensor.data_type());
    const Result<std::int64_t> count = read_count(tensor);
    if (!count) return pass_on(count.error());
    if (element_bits(type) == 0) {
      if (place.bytes && type != ElementType::kString && type != ElementType::kUndefined) return *place.bytes;
      return invalid(fmt::format("elements of type {} cannot be read from another file", name_of(type)));
    }
    const std::uint64_t wanted = byte_size(type, Dims(tensor.dims().begin(), tensor.dims().end()));
    if (place.bytes.value_or(wanted) == wanted) return wanted;
    return invalid(fmt::format("wanted {} bytes of {} for its shape, found {}", wanted, name_of(type), *place.bytes));
  }

  std::uint64_t bytes_left_;
  const ReadOutside& read_;
};

}  // namespace

Result<void> read_in_outside(onnx::ModelProto& model, std::uint64_t bytes, const ReadOutside& read_outside) {
  OutsideReading reading(bytes, read_outside);
  if (model.has_graph()) {
    if (Result<void> done = reading.read_in(*model.mutable_graph()); !done) return done;
  }
  if (Result<void> done = reading.read_in_each(*model.mutable_functions()); !done) return done;
  return reading.read_in_each(*model.mutable_training_info());
}

}  // namespace berth::models::detail
