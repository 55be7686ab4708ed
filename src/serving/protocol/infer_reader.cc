#include "serving/protocol/infer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/core/text.h"
#include "serving/protocol/detail/json_reader.h"
#include "serving/protocol/detail/parameters.h"
#include "serving/protocol/detail/tensor_reader.h"
#include "serving/protocol/detail/tensor_size.h"

namespace berth::serving::protocol {
namespace {

using detail::JsonReader;
using detail::Parameter;

constexpr std::int64_t kPriorityMax = 1000;
/// Longer ones than any target (31 years) say nothing, and could overflow a time.
constexpr std::int64_t kTimeoutUsMax = 1'000'000'000'000'000;

/// An input while it is read: its data may come before its datatype and shape.
struct InputDraft {
  Tensor tensor;
  std::int64_t count = 0;  ///< elements of the shape
  bool has_name = false;
  bool has_type = false;
  bool has_shape = false;
  bool has_data = false;
  bool has_parameters = false;
  std::optional<std::size_t> data_place = std::nullopt;  ///< of JSON data that is still to be read
  std::optional<std::size_t> binary_bytes = std::nullopt;
};

struct OutputDraft {
  std::string name;
  bool has_name = false;
  bool has_parameters = false;
  std::optional<bool> is_binary = std::nullopt;
};

class InferRequestReader {
 public:
  InferRequestReader(std::string_view head, std::string_view binary)
      : reader_(head, "the JSON of the request"), binary_(binary) {}

  [[nodiscard]] ServeResult<ReadInferRequest> read();

 private:
  [[nodiscard]] bool head();
  [[nodiscard]] bool member(const std::string& key);
  [[nodiscard]] bool once(bool& has, std::string_view key);
  [[nodiscard]] bool request_parameter(const std::string& key, const Parameter& value);
  [[nodiscard]] bool sequence_parameter(const std::string& key, const Parameter& value);
  [[nodiscard]] bool input();
  [[nodiscard]] bool input_member(InputDraft& draft, const std::string& key);
  [[nodiscard]] bool input_parameter(InputDraft& draft, const std::string& key, const Parameter& value);
  [[nodiscard]] bool datatype(InputDraft& draft);
  [[nodiscard]] bool shape(InputDraft& draft);
  [[nodiscard]] bool json_data(InputDraft& draft);
  [[nodiscard]] bool count_texts(const InputDraft& draft);
  [[nodiscard]] bool finish_input(InputDraft& draft);
  [[nodiscard]] bool finish_binary(InputDraft& draft);
  [[nodiscard]] bool output();
  [[nodiscard]] bool output_parameter(OutputDraft& draft, const std::string& key, const Parameter& value);
  bool malformed(std::string message) { return reader_.refuse(ServeFault::kMalformed, std::move(message)); }
  bool not_offered(std::string_view what) {
    return reader_.refuse(ServeFault::kNotOffered, fmt::format("{}: this server does not offer that", what));
  }

  JsonReader reader_;
  std::string_view binary_;  ///< what no input has taken yet
  ReadInferRequest result_;
  std::vector<std::optional<bool>> outputs_are_binary_;
  std::int64_t text_count_ = 0;
  bool has_id_ = false;
  bool has_parameters_ = false;
  bool has_inputs_ = false;
  bool has_outputs_ = false;
};

bool has_name(const std::vector<Tensor>& tensors, std::string_view name) {
  return std::ranges::find(tensors, name, &Tensor::name) != tensors.end();
}

ServeResult<ReadInferRequest> InferRequestReader::read() {
  if (!head()) return tl::unexpected(reader_.failure());
  if (!binary_.empty()) {
    return refuse(
        ServeFault::kMalformed,
        fmt::format("binary data: wanted what the inputs' binary_data_size say, found {} bytes more", binary_.size()));
  }
  for (const std::optional<bool>& is_binary : outputs_are_binary_) {
    result_.form.outputs.push_back(is_binary.value_or(result_.form.is_binary));
  }
  return std::move(result_);
}

bool InferRequestReader::head() {
  if (!reader_.object([this](const std::string& key) { return member(key); }) || !reader_.end()) return false;
  return has_inputs_ || malformed("inputs: wanted a list of tensors, found none");
}

bool InferRequestReader::member(const std::string& key) {
  if (reader_.take_null()) return true;
  if (key == "id") return once(has_id_, key) && reader_.text(result_.request.id);
  if (key == "inputs") return once(has_inputs_, key) && reader_.list([this] { return input(); });
  if (key == "outputs") return once(has_outputs_, key) && reader_.list([this] { return output(); });
  if (key == "parameters") {
    return once(has_parameters_, key) &&
           detail::read_parameters(reader_, [this](const std::string& name, const Parameter& value) {
             return request_parameter(name, value);
           });
  }
  return reader_.skip();
}

bool InferRequestReader::once(bool& has, std::string_view key) {
  if (std::exchange(has, true)) return malformed(fmt::format("{}: wanted it once, found it twice", key));
  return true;
}

bool InferRequestReader::request_parameter(const std::string& key, const Parameter& value) {
  if (key == "binary_data_output") return detail::take_truth(reader_, key, value, result_.form.is_binary);
  if (key == "priority") {
    std::int64_t priority = 0;
    if (!detail::take_whole(reader_, key, value, kPriorityMax, priority)) return false;
    result_.request.priority = std::max<std::int64_t>(priority, 1);
    return true;
  }
  if (key == "timeout") {
    std::uint64_t timeout_us = 0;
    if (!detail::take_whole(reader_, key, value, std::numeric_limits<std::uint64_t>::max(), timeout_us)) return false;
    const bool has_timeout = timeout_us > 0 && timeout_us <= static_cast<std::uint64_t>(kTimeoutUsMax);
    if (has_timeout) result_.request.timeout = Micros(static_cast<std::int64_t>(timeout_us));
    return true;
  }
  return !key.starts_with("sequence_") || sequence_parameter(key, value);
}

/// Values that say "no sequence" are accepted.
bool InferRequestReader::sequence_parameter(const std::string& key, const Parameter& value) {
  return detail::is_nothing(value) || not_offered(fmt::format("sequences (parameter {})", in_quotes(key)));
}

bool InferRequestReader::input() {
  if (result_.request.inputs.size() == kTensorCountMax) {
    return malformed(fmt::format("inputs: wanted at most {}, found more", kTensorCountMax));
  }
  InputDraft draft;
  if (!reader_.object([&](const std::string& key) { return input_member(draft, key); })) return false;
  if (!finish_input(draft)) return false;
  result_.request.inputs.push_back(std::move(draft.tensor));
  return true;
}

bool InferRequestReader::input_member(InputDraft& draft, const std::string& key) {
  if (reader_.take_null()) return true;
  if (key == "name") return once(draft.has_name, "name of an input") && reader_.text(draft.tensor.name);
  if (key == "datatype") return datatype(draft);
  if (key == "shape") return shape(draft);
  if (key == "data") return json_data(draft);
  if (key == "parameters") {
    if (!once(draft.has_parameters, "parameters of an input")) return false;
    return detail::read_parameters(
        reader_, [&](const std::string& name, const Parameter& value) { return input_parameter(draft, name, value); });
  }
  return reader_.skip();
}

bool InferRequestReader::input_parameter(InputDraft& draft, const std::string& key, const Parameter& value) {
  if (key.starts_with("shared_memory_")) return detail::is_nothing(value) || not_offered("shared memory");
  if (key != "binary_data_size") return true;
  std::size_t bytes = 0;
  if (!detail::take_whole(reader_, key, value, std::numeric_limits<std::size_t>::max(), bytes)) return false;
  draft.binary_bytes = bytes;
  return true;
}

bool InferRequestReader::datatype(InputDraft& draft) {
  std::string name;
  if (!once(draft.has_type, "datatype of an input") || !reader_.text(name)) return false;
  const auto type = tensor_type_named(name);
  if (!type) return malformed(fmt::format("datatype of an input: wanted one such as FP32, found {}", in_quotes(name)));
  draft.tensor.type = *type;
  return true;
}

bool InferRequestReader::shape(InputDraft& draft) {
  if (!once(draft.has_shape, "shape of an input")) return false;
  std::vector<std::int64_t>& shape = draft.tensor.shape;
  const bool is_read = reader_.list([&] {
    detail::JsonNumber number;
    if (!reader_.number(number)) return false;
    const auto size = detail::integer_of<std::int64_t>(number);
    if (!size || *size < 0) {
      return malformed(
          fmt::format("shape of an input: wanted whole numbers of at least 0, found {}", in_quotes(number.text)));
    }
    shape.push_back(*size);
    return shape.size() <= detail::kRankMax ||
           malformed(fmt::format("shape of an input: wanted at most {} dimensions, found more", detail::kRankMax));
  });
  if (!is_read) return false;
  const auto count = detail::element_count(shape);
  if (!count) {
    return malformed(
        fmt::format("shape of an input: wanted at most {} elements, found more", detail::kElementCountMax));
  }
  draft.count = *count;
  return true;
}

bool InferRequestReader::json_data(InputDraft& draft) {
  if (!once(draft.has_data, "data of an input")) return false;
  if (draft.has_type && draft.has_shape) {
    return count_texts(draft) && detail::read_json_data(reader_, draft.count, draft.tensor);
  }
  draft.data_place = reader_.place();
  return reader_.skip();
}

/// Called once for each input whose elements are about to be read.
bool InferRequestReader::count_texts(const InputDraft& draft) {
  if (draft.tensor.type != TensorType::kBytes) return true;
  text_count_ += draft.count;
  return text_count_ <= detail::kTextCountMax ||
         malformed(fmt::format("{}: wanted at most {} elements of BYTES in a request, found more",
                               detail::input_title(draft.tensor.name), detail::kTextCountMax));
}

bool InferRequestReader::finish_input(InputDraft& draft) {
  if (!draft.has_name) return malformed("an input: wanted a name, found none");
  const auto wanted = [&](std::string_view what) {
    return malformed(fmt::format("{}: wanted {}, found none", detail::input_title(draft.tensor.name), what));
  };
  if (!draft.has_type) return wanted("a datatype");
  if (!draft.has_shape) return wanted("a shape");
  if (has_name(result_.request.inputs, draft.tensor.name)) {
    return malformed(fmt::format("{}: wanted it once, found it twice", detail::input_title(draft.tensor.name)));
  }
  if (draft.binary_bytes) return finish_binary(draft);
  if (!draft.has_data) return wanted("data, or the parameter binary_data_size");
  if (!draft.data_place) return true;
  const std::size_t end = reader_.place();
  reader_.go_to(*draft.data_place);
  if (!count_texts(draft) || !detail::read_json_data(reader_, draft.count, draft.tensor)) return false;
  reader_.go_to(end);
  return true;
}

bool InferRequestReader::finish_binary(InputDraft& draft) {
  if (draft.has_data) {
    return malformed(fmt::format("{}: wanted data or the parameter binary_data_size, found both",
                                 detail::input_title(draft.tensor.name)));
  }
  if (!count_texts(draft)) return false;
  if (*draft.binary_bytes > binary_.size()) {
    return malformed(fmt::format("{}: wanted {} bytes of binary data behind the JSON, found {}",
                                 detail::input_title(draft.tensor.name), *draft.binary_bytes, binary_.size()));
  }
  const auto read = detail::read_binary_data(binary_.substr(0, *draft.binary_bytes), draft.count, draft.tensor);
  if (!read) return reader_.refuse(read.error().fault, read.error().message);
  binary_.remove_prefix(*draft.binary_bytes);
  return true;
}

bool InferRequestReader::output() {
  std::vector<std::string>& names = result_.request.outputs;
  if (names.size() == kTensorCountMax) {
    return malformed(fmt::format("outputs: wanted at most {}, found more", kTensorCountMax));
  }
  OutputDraft draft;
  const bool is_read = reader_.object([&](const std::string& key) {
    if (reader_.take_null()) return true;
    if (key == "name") return once(draft.has_name, "name of an output") && reader_.text(draft.name);
    if (key != "parameters") return reader_.skip();
    if (!once(draft.has_parameters, "parameters of an output")) return false;
    return detail::read_parameters(
        reader_, [&](const std::string& name, const Parameter& value) { return output_parameter(draft, name, value); });
  });
  if (!is_read) return false;
  if (!draft.has_name) return malformed("an output: wanted a name, found none");
  if (std::ranges::find(names, draft.name) != names.end()) {
    return malformed(fmt::format("output {}: wanted it once, found it twice", in_quotes(draft.name)));
  }
  names.push_back(std::move(draft.name));
  outputs_are_binary_.push_back(draft.is_binary);
  return true;
}

bool InferRequestReader::output_parameter(OutputDraft& draft, const std::string& key, const Parameter& value) {
  if (key.starts_with("shared_memory_")) return detail::is_nothing(value) || not_offered("shared memory");
  if (key == "classification") return detail::is_nothing(value) || not_offered("classification");
  if (key != "binary_data") return true;
  bool is_binary = false;
  if (!detail::take_truth(reader_, key, value, is_binary)) return false;
  draft.is_binary = is_binary;
  return true;
}

}  // namespace

ServeResult<ReadInferRequest> read_infer_request(std::string_view body, std::optional<std::string_view> head_length) {
  std::size_t head_bytes = body.size();
  if (head_length) {
    const auto length = parse_count(*head_length, std::numeric_limits<std::int64_t>::max());
    if (!length || std::cmp_greater(*length, body.size())) {
      return refuse(
          ServeFault::kMalformed,
          fmt::format("Inference-Header-Content-Length: wanted a number of at most the body's {} bytes, found {}",
                      body.size(), in_quotes(*head_length)));
    }
    if (*length == 0) {
      return refuse(ServeFault::kNotOffered, "binary data without a JSON head: this server does not offer that");
    }
    head_bytes = static_cast<std::size_t>(*length);
  }
  return InferRequestReader(body.substr(0, head_bytes), body.substr(head_bytes)).read();
}

}  // namespace berth::serving::protocol
