// Small models as the bytes of ONNX files, written here field by field (onnx.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::edges {

/// A message of protocol buffers, in the order of the calls.
class ProtoWriter {
 public:
  ProtoWriter& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  ProtoWriter& text(int field, std::string_view bytes) {
    varint((static_cast<std::uint64_t>(field) << 3) | 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  ProtoWriter& message(int field, const ProtoWriter& inner) { return text(field, inner.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

/// An input or output: 32-bit floats, any number of rows of `columns`.
inline ProtoWriter value_info(std::string_view name, std::uint64_t columns) {
  const ProtoWriter shape =
      ProtoWriter().message(1, ProtoWriter().text(2, "N")).message(1, ProtoWriter().number(1, columns));
  const ProtoWriter tensor = ProtoWriter().number(1, 1).message(2, shape);
  return ProtoWriter().text(1, name).message(2, ProtoWriter().message(1, tensor));
}

/// y = OPERATOR(x, x), such as "Add", with any number of rows of `columns` floats.
inline std::string twice_model(std::string_view op_type, std::uint64_t columns) {
  const ProtoWriter node = ProtoWriter().text(1, "x").text(1, "x").text(2, "y").text(4, op_type);
  const ProtoWriter graph = ProtoWriter()
                                .message(1, node)
                                .text(2, "twice")
                                .message(11, value_info("x", columns))
                                .message(12, value_info("y", columns));
  return ProtoWriter().number(1, 8).message(7, graph).message(8, ProtoWriter().number(2, 17)).bytes();
}

}  // namespace berth::edges
