#include "edges/grpc_server/oip/infer_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "serving/service/tensor_wire.h"

namespace berth::edges {
namespace {

using inference::InferParameter;
using inference::InferTensorContents;
using inference::ModelInferRequest;
using serving::InferRequest;
using serving::refuse;
using serving::ServeError;
using serving::ServeFault;
using serving::ServeResult;
using serving::tensor_label;

using Parameters = google::protobuf::Map<std::string, InferParameter>;
using InputTensor = ModelInferRequest::InferInputTensor;

constexpr std::int64_t kPriorityMax = 1000;
constexpr int kDimensionCountMax = 64;

// Looked into: inputs and outputs, for their parameters, and the contents of inputs, for their texts.
constexpr auto kFieldsOfInput = std::to_array<FieldToCount>({{.number = InputTensor::kContentsFieldNumber}});
constexpr auto kFieldsOfRequest =
    std::to_array<FieldToCount>({{.number = ModelInferRequest::kInputsFieldNumber, .inside = kFieldsOfInput},
                                 {.number = ModelInferRequest::kOutputsFieldNumber}});

tl::unexpected<ServeError> malformed(std::string message) { return refuse(ServeFault::kMalformed, std::move(message)); }

/// Whole, at least 0; nothing if it is another value. Values above INT64_MAX are INT64_MAX.
std::optional<std::int64_t> whole_number(const InferParameter& parameter) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (parameter.has_uint64_param()) {
    return static_cast<std::int64_t>(std::min(parameter.uint64_param(), static_cast<std::uint64_t>(kMax)));
  }
  if (!parameter.has_int64_param() || parameter.int64_param() < 0) return std::nullopt;
  return parameter.int64_param();
}

ServeResult<std::int64_t> number_named(const Parameters& parameters, const char* name, std::int64_t max) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return 0;
  const std::optional<std::int64_t> number = whole_number(found->second);
  if (number && *number <= max) return *number;
  const bool is_bounded = max != std::numeric_limits<std::int64_t>::max();
  return malformed(fmt::format("parameter {}: wanted a whole number of at least 0{}, found another value", name,
                               is_bounded ? fmt::format(" and at most {}", max) : ""));
}

/// Whether it is no more than what is meant without it.
bool is_neutral(const InferParameter& parameter) {
  switch (parameter.parameter_choice_case()) {
    case InferParameter::kBoolParam:
      return !parameter.bool_param();
    case InferParameter::kInt64Param:
      return parameter.int64_param() == 0;
    case InferParameter::kUint64Param:
      return parameter.uint64_param() == 0;
    case InferParameter::kStringParam:
      return parameter.string_param().empty();
    case InferParameter::kDoubleParam:
      return false;
    case InferParameter::PARAMETER_CHOICE_NOT_SET:
      return true;
  }
  return false;
}

/// The error if a parameter asks for what this server does not do. `whose`: "" or such as ` of input "x"`.
std::optional<ServeError> find_not_offered(const Parameters& parameters, const std::string& whose) {
  constexpr auto kNotOffered =
      std::to_array<const char*>({"sequence_id", "sequence_start", "sequence_end", "classification",
                                  "shared_memory_region", "shared_memory_byte_size", "shared_memory_offset"});
  for (const char* name : kNotOffered) {
    const auto found = parameters.find(name);
    if (found == parameters.end() || is_neutral(found->second)) continue;
    return ServeError{.fault = ServeFault::kNotOffered,
                      .message = fmt::format("parameter {}{}: this server does not offer it", name, whose)};
  }
  return std::nullopt;
}

/// The elements as bytes. Requires: a machine that is little-endian, as tensors are.
template <class Element, class Field>
ServeResult<std::string> bytes_of(const Tensor& head, const Field& field) {
  std::string bytes(static_cast<std::size_t>(field.size()) * sizeof(Element), '\0');
  char* place = bytes.data();
  for (const auto value : field) {
    const auto element = static_cast<Element>(value);
    if (sizeof(Element) < sizeof(value) && element != value) {
      return malformed(fmt::format("{}: wanted elements of its type, found {}", tensor_label(head), value));
    }
    std::memcpy(place, &element, sizeof(Element));
    place += sizeof(Element);
  }
  return bytes;
}

int typed_element_count(const InferTensorContents& contents) {
  // Counts of parsed fields: their sum is far below INT_MAX, as each element has a byte of a message at least.
  return contents.bool_contents_size() + contents.int_contents_size() + contents.int64_contents_size() +
         contents.uint_contents_size() + contents.uint64_contents_size() + contents.fp32_contents_size() +
         contents.fp64_contents_size() + contents.bytes_contents_size();
}

/// The bytes of elements that are in the field of the tensor's type; not for BYTES.
ServeResult<std::string> typed_bytes(const Tensor& head, const InferTensorContents& contents) {
  switch (head.type) {
    case TensorType::kBool:
      return bytes_of<bool>(head, contents.bool_contents());
    case TensorType::kUint8:
      return bytes_of<std::uint8_t>(head, contents.uint_contents());
    case TensorType::kUint16:
      return bytes_of<std::uint16_t>(head, contents.uint_contents());
    case TensorType::kUint32:
      return bytes_of<std::uint32_t>(head, contents.uint_contents());
    case TensorType::kUint64:
      return bytes_of<std::uint64_t>(head, contents.uint64_contents());
    case TensorType::kInt8:
      return bytes_of<std::int8_t>(head, contents.int_contents());
    case TensorType::kInt16:
      return bytes_of<std::int16_t>(head, contents.int_contents());
    case TensorType::kInt32:
      return bytes_of<std::int32_t>(head, contents.int_contents());
    case TensorType::kInt64:
      return bytes_of<std::int64_t>(head, contents.int64_contents());
    case TensorType::kFp32:
      return bytes_of<float>(head, contents.fp32_contents());
    case TensorType::kFp64:
      return bytes_of<double>(head, contents.fp64_contents());
    case TensorType::kFp16:
    case TensorType::kBf16:
      return malformed(
          fmt::format("{}: wanted its data in raw_input_contents, found typed contents, in which its type "
                      "has no field",
                      tensor_label(head)));
    case TensorType::kBytes:
      break;
  }
  return std::string();
}

ServeResult<Tensor> with_texts(Tensor head, InferTensorContents& contents) {
  const int found = contents.bytes_contents_size();
  if (found > serving::kTextCountMax) {
    return refuse(ServeFault::kTooLarge, fmt::format("{}: wanted at most {} texts, found {}", tensor_label(head),
                                                     serving::kTextCountMax, found));
  }
  if (serving::element_count(head.shape) != found) {
    return malformed(fmt::format("{}: wanted as many bytes_contents as the shape has elements, found {}",
                                 tensor_label(head), found));
  }
  head.texts.reserve(static_cast<std::size_t>(found));
  for (std::string& text : *contents.mutable_bytes_contents()) head.texts.push_back(std::move(text));
  return head;
}

ServeResult<Tensor> with_typed(Tensor head, InferTensorContents& contents) {
  ServeResult<std::string> bytes = typed_bytes(head, contents);
  if (!bytes) return tl::unexpected(bytes.error());
  const bool is_text = head.type == TensorType::kBytes;
  const std::size_t in_its_field =
      is_text ? static_cast<std::size_t>(contents.bytes_contents_size()) : bytes->size() / element_bytes(head.type);
  if (in_its_field != static_cast<std::size_t>(typed_element_count(contents))) {
    return malformed(fmt::format("{}: wanted its elements in the field of its type, found some in another field",
                                 tensor_label(head)));
  }
  if (is_text) return with_texts(std::move(head), contents);
  return serving::tensor_of_binary(std::move(head), *std::move(bytes));
}

/// Name, type and shape.
ServeResult<Tensor> head_of(InputTensor& input) {
  if (input.shape_size() > kDimensionCountMax) {
    return malformed(fmt::format("input \"{}\": wanted at most {} dimensions, found {}", input.name(),
                                 kDimensionCountMax, input.shape_size()));
  }
  const std::optional<TensorType> type = tensor_type_named(input.datatype());
  if (!type) {
    return malformed(
        fmt::format("input \"{}\": wanted a datatype such as FP32, found \"{}\"", input.name(), input.datatype()));
  }
  if (auto error = find_not_offered(input.parameters(), fmt::format(" of input \"{}\"", input.name()))) {
    return tl::unexpected(*std::move(error));
  }
  return Tensor{
      .name = std::move(*input.mutable_name()), .type = *type, .shape = {input.shape().begin(), input.shape().end()}};
}

/// `raw`: its data if that is not in the input itself.
ServeResult<Tensor> tensor_of(InputTensor& input, std::string* raw) {
  ServeResult<Tensor> head = head_of(input);
  if (!head) return head;
  if (raw == nullptr) return with_typed(*std::move(head), *input.mutable_contents());
  if (typed_element_count(input.contents()) != 0) {
    return malformed(
        fmt::format("{}: wanted no typed contents next to raw_input_contents, found some", tensor_label(*head)));
  }
  return serving::tensor_of_binary(*std::move(head), std::move(*raw));
}

ServeResult<std::vector<Tensor>> inputs_of(ModelInferRequest& message) {
  const int count = message.inputs_size();
  const bool is_raw = message.raw_input_contents_size() != 0;
  if (is_raw && message.raw_input_contents_size() != count) {
    return malformed(fmt::format("wanted raw_input_contents for none or each of the {} inputs, found {}", count,
                                 message.raw_input_contents_size()));
  }
  std::vector<Tensor> inputs;
  inputs.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    std::string* const raw = is_raw ? message.mutable_raw_input_contents(i) : nullptr;
    ServeResult<Tensor> input = tensor_of(*message.mutable_inputs(i), raw);
    if (!input) return tl::unexpected(std::move(input.error()));
    inputs.push_back(*std::move(input));
  }
  return inputs;
}

ServeResult<std::vector<std::string>> outputs_of(ModelInferRequest& message) {
  std::vector<std::string> outputs;
  outputs.reserve(static_cast<std::size_t>(message.outputs_size()));
  for (auto& output : *message.mutable_outputs()) {
    if (auto error = find_not_offered(output.parameters(), fmt::format(" of output \"{}\"", output.name()))) {
      return tl::unexpected(*std::move(error));
    }
    outputs.push_back(std::move(*output.mutable_name()));
  }
  return outputs;
}

}  // namespace

std::span<const FieldToCount> infer_fields() { return kFieldsOfRequest; }

ServeResult<InferRequest> infer_request_of(ModelInferRequest message) {
  const Parameters& parameters = message.parameters();
  if (auto error = find_not_offered(parameters, "")) return tl::unexpected(*std::move(error));
  const auto priority = number_named(parameters, "priority", kPriorityMax);
  if (!priority) return tl::unexpected(priority.error());
  const auto timeout = number_named(parameters, "timeout", std::numeric_limits<std::int64_t>::max());
  if (!timeout) return tl::unexpected(timeout.error());
  auto inputs = inputs_of(message);
  if (!inputs) return tl::unexpected(std::move(inputs.error()));
  auto outputs = outputs_of(message);
  if (!outputs) return tl::unexpected(std::move(outputs.error()));
  return InferRequest{.model = std::move(*message.mutable_model_name()),
                      .version = std::move(*message.mutable_model_version()),
                      .id = std::move(*message.mutable_id()),
                      .inputs = *std::move(inputs),
                      .outputs = *std::move(outputs),
                      .priority = std::max<std::int64_t>(*priority, 1),
                      .timeout = *timeout == 0 ? std::nullopt : std::optional(Micros(*timeout))};
}

InferResponse infer_response_of(serving::InferAnswer answer) {
  InferResponse response;
  response.head.set_model_name(std::move(answer.model));
  response.head.set_model_version(std::move(answer.version));
  response.head.set_id(std::move(answer.id));
  response.raw_output_contents.reserve(answer.outputs.size());
  for (Tensor& output : answer.outputs) {
    auto& head = *response.head.add_outputs();
    head.set_datatype(std::string(name_of(output.type)));
    head.mutable_shape()->Assign(output.shape.begin(), output.shape.end());
    head.set_name(std::move(output.name));
    response.raw_output_contents.push_back(serving::binary_of(std::move(output)));
  }
  return response;
}

}  // namespace berth::edges
