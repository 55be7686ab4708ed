// Tensors come back from the wire as they went out: as binary data, and as JSON, flat and nested.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serving/protocol/infer_reader.h"
#include "serving/protocol/infer_writer.h"

namespace berth::serving::protocol {
namespace {

std::size_t count_of(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  return count;
}

template <class Real>
bool has_only_finite(const Tensor& tensor) {
  for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(Real)) {
    Real number = 0;
    std::memcpy(&number, tensor.bytes.data() + at, sizeof number);
    if (!std::isfinite(number)) return false;
  }
  return true;
}

/// Whether JSON can carry it.
bool has_json(const Tensor& tensor) {
  if (tensor.type == TensorType::kFp32) return has_only_finite<float>(tensor);
  if (tensor.type == TensorType::kFp64) return has_only_finite<double>(tensor);
  return tensor.type != TensorType::kFp16 && tensor.type != TensorType::kBf16;
}

Tensor any_tensor(std::size_t index) {
  Tensor tensor{.name = fmt::format("t\"{}", index), .type = TensorType::kFp32, .shape = {}};
  tensor.type = static_cast<TensorType>(*rc::gen::inRange(0, static_cast<int>(TensorType::kBytes) + 1));
  const auto rank = *rc::gen::inRange<std::size_t>(0, 4);
  tensor.shape = *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(0, 4));
  const std::size_t count = count_of(tensor.shape);
  if (tensor.type == TensorType::kBytes) {
    // ASCII with its quotes and control characters, as other bytes may be no UTF-8.
    const auto text = rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
    tensor.texts = *rc::gen::container<std::vector<std::string>>(count, text);
    return tensor;
  }
  const auto byte = tensor.type == TensorType::kBool ? rc::gen::inRange<char>(0, 2) : rc::gen::arbitrary<char>();
  tensor.bytes = *rc::gen::container<std::string>(count * element_bytes(tensor.type), byte);
  return tensor;
}

/// An answer with these outputs, as a request with these inputs: their forms are the same.
std::string as_request(std::string answer) {
  const std::string_view outputs = "\"outputs\":[";
  answer.replace(answer.find(outputs), outputs.size(), " \"inputs\":[");
  return answer;
}

RC_GTEST_PROP(InferProperty, TensorsComeBackFromTheWire, ()) {
  InferAnswer answer{.model = "m", .version = "1", .id = "", .outputs = {}};
  AnswerForm form;
  const auto tensor_count = *rc::gen::inRange<std::size_t>(1, 5);
  for (std::size_t i = 0; i < tensor_count; ++i) {
    answer.outputs.push_back(any_tensor(i));
    form.outputs.push_back(!has_json(answer.outputs.back()) || *rc::gen::arbitrary<bool>());
  }
  const auto written = write_infer_answer(answer, form);
  RC_ASSERT(written.has_value());
  const std::string length = written->head_bytes ? fmt::to_string(*written->head_bytes) : "";
  const auto read = read_infer_request(as_request(written->body),
                                       written->head_bytes ? std::optional<std::string_view>(length) : std::nullopt);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->request.inputs == answer.outputs);
}

/// The elements from `index` on, nested as the sizes say.
std::string nested(const std::vector<std::int64_t>& sizes, std::size_t level, std::int64_t& index) {
  if (level == sizes.size()) return fmt::to_string(index++);
  std::string list = "[";
  for (std::int64_t i = 0; i < sizes[level]; ++i) list += (i == 0 ? "" : ", ") + nested(sizes, level + 1, index);
  return list + "]";
}

RC_GTEST_PROP(InferProperty, NestedDataAreReadRowByRow, ()) {
  const auto rank = *rc::gen::inRange<std::size_t>(0, 5);
  const auto shape = *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(0, 4));
  std::int64_t count = 0;
  const std::string data = nested(shape, 0, count);
  std::string sizes;
  for (const std::int64_t size : shape) sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", size);
  const auto read = read_infer_request(
      fmt::format(R"({{"inputs":[{{"name":"x","data":{},"datatype":"UINT8","shape":[{}]}}]}})", data, sizes),
      std::nullopt);
  RC_ASSERT(read.has_value());
  const std::string& bytes = read->request.inputs.front().bytes;
  RC_ASSERT(bytes.size() == static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i) RC_ASSERT(static_cast<unsigned char>(bytes[i]) == i % 256);
}

}  // namespace
}  // namespace berth::serving::protocol
