#include "serving/protocol/infer_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "base/json/writer.h"
#include "serving/protocol/detail/json_number.h"

namespace berth::serving::protocol {
namespace {

constexpr std::size_t kHeadBytesGuess = 256;  ///< of an answer with one output

tl::unexpected<ServeError> refuse_json(ServeFault fault, const Tensor& output, std::string_view found) {
  return refuse(fault,
                fmt::format("output {}: wanted elements that JSON can carry, found {}; ask for it as binary data "
                            "(parameter binary_data of the output, or binary_data_output of the request)",
                            in_quotes(output.name), found));
}

void append_text(std::string& json, std::string_view text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (is_plain) {
    json.append(1, '"').append(text).append(1, '"');
  } else {
    json += json::text_of(text);
  }
}

template <std::integral Integer>
void append_integer(std::string& json, Integer number) {
  std::array<char, 24> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  ENSURE(error == std::errc());
  json.append(buffer.data(), end);
}

/// Adds the elements, separated by commas.
template <class Element>
ServeResult<void> append_numbers(std::string& json, const Tensor& output) {
  const std::size_t bytes = output.bytes.size() / sizeof(Element) * sizeof(Element);
  for (std::size_t at = 0; at < bytes; at += sizeof(Element)) {
    Element element{};
    std::memcpy(&element, output.bytes.data() + at, sizeof(Element));
    if (at > 0) json += ',';
    if constexpr (std::floating_point<Element>) {
      if (!std::isfinite(element)) {
        return refuse_json(ServeFault::kEngineFailed, output, fmt::format("{}", element));
      }
      detail::append_number(json, element);
    } else {
      append_integer(json, element);
    }
  }
  return {};
}

void append_truths(std::string& json, const Tensor& output) {
  for (std::size_t i = 0; i < output.bytes.size(); ++i) {
    if (i > 0) json += ',';
    json += output.bytes[i] != '\0' ? "true" : "false";
  }
}

/// NUL is a character, too: JSON has an escape for it.
bool is_utf8(std::string_view text) {
  for (std::size_t bad = find_bad_utf8(text); bad != std::string_view::npos; bad = find_bad_utf8(text)) {
    if (text[bad] != '\0') return false;
    text.remove_prefix(bad + 1);
  }
  return true;
}

ServeResult<void> append_texts(std::string& json, const Tensor& output) {
  for (std::size_t i = 0; i < output.texts.size(); ++i) {
    const std::string& text = output.texts[i];
    if (i > 0) json += ',';
    if (!is_utf8(text)) return refuse_json(ServeFault::kEngineFailed, output, "bytes that are not UTF-8");
    append_text(json, text);
  }
  return {};
}

ServeResult<void> append_elements(std::string& json, const Tensor& output) {
  switch (output.type) {
    case TensorType::kBool:
      append_truths(json, output);
      return {};
    case TensorType::kUint8:
      return append_numbers<std::uint8_t>(json, output);
    case TensorType::kUint16:
      return append_numbers<std::uint16_t>(json, output);
    case TensorType::kUint32:
      return append_numbers<std::uint32_t>(json, output);
    case TensorType::kUint64:
      return append_numbers<std::uint64_t>(json, output);
    case TensorType::kInt8:
      return append_numbers<std::int8_t>(json, output);
    case TensorType::kInt16:
      return append_numbers<std::int16_t>(json, output);
    case TensorType::kInt32:
      return append_numbers<std::int32_t>(json, output);
    case TensorType::kInt64:
      return append_numbers<std::int64_t>(json, output);
    case TensorType::kFp32:
      return append_numbers<float>(json, output);
    case TensorType::kFp64:
      return append_numbers<double>(json, output);
    case TensorType::kBytes:
      return append_texts(json, output);
    case TensorType::kFp16:
    case TensorType::kBf16:
      break;
  }
  return refuse_json(ServeFault::kMalformed, output, name_of(output.type));
}

std::size_t binary_bytes(const Tensor& output) {
  if (output.type != TensorType::kBytes) return output.bytes.size();
  std::size_t bytes = 0;
  for (const std::string& text : output.texts) bytes += sizeof(std::uint32_t) + text.size();
  return bytes;
}

void append_binary(std::string& body, const Tensor& output) {
  body += output.bytes;
  for (const std::string& text : output.texts) {
    const auto length = static_cast<std::uint32_t>(text.size());
    body.append(reinterpret_cast<const char*>(&length), sizeof length);
    body += text;
  }
}

void append_shape(std::string& json, const Tensor& output) {
  json += R"(,"shape":[)";
  for (std::size_t i = 0; i < output.shape.size(); ++i) {
    if (i > 0) json += ',';
    append_integer(json, output.shape[i]);
  }
  json += ']';
}

ServeResult<void> append_output(std::string& json, const Tensor& output, bool is_binary) {
  json += R"({"name":)";
  append_text(json, output.name);
  json.append(R"(,"datatype":")").append(name_of(output.type)).append(1, '"');
  append_shape(json, output);
  if (is_binary) {
    json += R"(,"parameters":{"binary_data_size":)";
    append_integer(json, binary_bytes(output));
    json += "}}";
    return {};
  }
  json += R"(,"data":[)";
  if (auto written = append_elements(json, output); !written) return written;
  json += "]}";
  return {};
}

bool is_binary(const AnswerForm& form, std::size_t index) {
  return index < form.outputs.size() ? form.outputs[index] : form.is_binary;
}

void append_head(std::string& json, const InferAnswer& answer) {
  json += R"({"model_name":)";
  append_text(json, answer.model);
  json += R"(,"model_version":)";
  append_text(json, answer.version);
  if (!answer.id.empty()) {
    json += R"(,"id":)";
    append_text(json, answer.id);
  }
}

}  // namespace

ServeResult<WrittenAnswer> write_infer_answer(const InferAnswer& answer, const AnswerForm& form) {
  std::size_t tail_bytes = 0;
  bool has_binary = false;
  for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
    if (!is_binary(form, i)) continue;
    has_binary = true;
    tail_bytes += binary_bytes(answer.outputs[i]);
  }
  WrittenAnswer written;
  written.body.reserve(kHeadBytesGuess * (1 + answer.outputs.size()) + tail_bytes);
  append_head(written.body, answer);
  written.body += R"(,"outputs":[)";
  for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
    if (i > 0) written.body += ',';
    const auto output = append_output(written.body, answer.outputs[i], is_binary(form, i));
    if (!output) return tl::unexpected(output.error());
  }
  written.body += "]}";
  if (!has_binary) return written;
  written.head_bytes = written.body.size();
  for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
    if (is_binary(form, i)) append_binary(written.body, answer.outputs[i]);
  }
  return written;
}

ServeResult<WrittenAnswer> write_infer_call(std::span<const Tensor> inputs, bool is_binary) {
  WrittenAnswer written;
  written.body = R"({"inputs":[)";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) written.body += ',';
    const auto input = append_output(written.body, inputs[i], is_binary);
    if (!input) return tl::unexpected(input.error());
  }
  written.body += is_binary ? R"(],"parameters":{"binary_data_output":true}})" : "]}";
  if (!is_binary) return written;
  written.head_bytes = written.body.size();
  for (const Tensor& input : inputs) append_binary(written.body, input);
  return written;
}

}  // namespace berth::serving::protocol
