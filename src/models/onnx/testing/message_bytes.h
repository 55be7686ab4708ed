// Messages of ONNX written field by field (onnx.proto): also those that its classes would not write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::testing {

/// The bytes of a message of protocol buffers, in the order of the calls.
class MessageBytes {
 public:
  MessageBytes& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  MessageBytes& text(int field, std::string_view bytes) {
    varint((static_cast<std::uint64_t>(field) << 3) | 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  MessageBytes& message(int field, const MessageBytes& inner) { return text(field, inner.bytes_); }
  MessageBytes& append(const MessageBytes& fields) {
    bytes_ += fields.bytes_;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

/// An input or output of floats; a size of -1 has a name instead ("N", the same for all).
inline MessageBytes float_info(std::string_view name, const std::vector<std::int64_t>& sizes) {
  MessageBytes shape;
  for (const std::int64_t size : sizes) {
    shape.message(1,
                  size < 0 ? MessageBytes().text(2, "N") : MessageBytes().number(1, static_cast<std::uint64_t>(size)));
  }
  const MessageBytes tensor = MessageBytes().number(1, 1).message(2, shape);
  return MessageBytes().text(1, name).message(2, MessageBytes().message(1, tensor));
}

/// A node without a name and attributes.
inline MessageBytes node_bytes(std::string_view op, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs) {
  MessageBytes node;
  for (const std::string& input : inputs) node.text(1, input);
  for (const std::string& output : outputs) node.text(2, output);
  return node.text(4, op);
}

/// A tensor without a name and elements. `type`: of TensorProto.DataType.
inline MessageBytes tensor_bytes(const std::vector<std::int64_t>& dims, std::uint64_t type) {
  MessageBytes tensor;
  for (const std::int64_t dim : dims) tensor.number(1, static_cast<std::uint64_t>(dim));
  return tensor.number(2, type);
}

/// A file with this graph, for version 8 of the format and version 17 of the operators.
inline std::string model_bytes(const MessageBytes& graph) {
  return MessageBytes().number(1, 8).message(7, graph).message(8, MessageBytes().text(1, "").number(2, 17)).bytes();
}

}  // namespace berth::testing
