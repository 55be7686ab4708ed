#include "models/generate/perceptron.h"

#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

constexpr std::uint64_t kFloat = 1;  // of TensorProto.DataType
constexpr std::uint64_t kFormatVersion = 8;
constexpr std::uint64_t kOperatorsVersion = 17;

/// A message of protocol buffers; the numbers of its fields are those of onnx.proto.
class Message {
 public:
  Message& number(std::uint64_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& text(std::uint64_t field, std::string_view bytes) {
    varint(field << 3 | 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& message(std::uint64_t field, const Message& inner) { return text(field, inner.bytes_); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

/// A matrix of N rows.
Message tensor_info(std::string_view name, std::int64_t columns) {
  const Message shape =
      Message().message(1, Message().text(2, "N")).message(1, Message().number(1, static_cast<std::uint64_t>(columns)));
  return Message().text(1, name).message(2, Message().message(1, Message().number(1, kFloat).message(2, shape)));
}

Message node(std::string_view op_type, const std::vector<std::string>& inputs, std::string_view output) {
  Message node;
  for (const std::string& input : inputs) node.text(1, input);
  return node.text(2, output).text(4, op_type);
}

/// Drawn so that outputs are about as large as inputs.
Message weights(std::string_view name, std::int64_t rows, std::int64_t columns, Rng& rng) {
  const double largest = std::sqrt(6.0 / static_cast<double>(rows));
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(rows * columns) * sizeof(float));
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>((2 * rng.unit() - 1) * largest));
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xFF);
  }
  return Message()
      .number(1, static_cast<std::uint64_t>(rows))
      .number(1, static_cast<std::uint64_t>(columns))
      .number(2, kFloat)
      .text(8, name)
      .text(9, bytes);
}

}  // namespace

std::string perceptron(const std::vector<std::int64_t>& widths, Rng rng) {
  ENSURE(widths.size() >= 2);
  Message graph;
  std::string from = "x";
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    ENSURE(widths[i] > 0 && widths[i + 1] > 0);
    const bool is_last = i + 2 == widths.size();
    const std::string layer = std::to_string(i);
    const std::string product = is_last ? "y" : "product" + layer;
    graph.message(1, node("MatMul", {from, "weights" + layer}, product));
    from = "layer" + layer;
    if (!is_last) graph.message(1, node("Relu", {product}, from));
  }
  graph.text(2, "perceptron");
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    graph.message(5, weights("weights" + std::to_string(i), widths[i], widths[i + 1], rng));
  }
  graph.message(11, tensor_info("x", widths.front())).message(12, tensor_info("y", widths.back()));
  return Message()
      .number(1, kFormatVersion)
      .message(7, graph)
      .message(8, Message().number(2, kOperatorsVersion))
      .take();
}

}  // namespace berth::models
