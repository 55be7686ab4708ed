// Small models as the bytes of ONNX files, written field by field (onnx.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::testing {

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
  ProtoWriter& append(const ProtoWriter& fields) {
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

inline constexpr std::uint64_t kOnnxFloat = 1;  ///< of TensorProto.DataType

/// An input or output; a size of -1 has a name instead ("N", the same for all).
inline ProtoWriter tensor_info(std::string_view name, std::uint64_t type, const std::vector<std::int64_t>& sizes) {
  ProtoWriter shape;
  for (const std::int64_t size : sizes) {
    shape.message(1, size < 0 ? ProtoWriter().text(2, "N") : ProtoWriter().number(1, static_cast<std::uint64_t>(size)));
  }
  const ProtoWriter tensor = ProtoWriter().number(1, type).message(2, shape);
  return ProtoWriter().text(1, name).message(2, ProtoWriter().message(1, tensor));
}

/// A file with this graph, for version 8 of the format and version 17 of the operators.
inline std::string model_of(const ProtoWriter& graph) {
  return ProtoWriter().number(1, 8).message(7, graph).message(8, ProtoWriter().text(1, "").number(2, 17)).bytes();
}

/// y = OPERATOR(x, x), such as "Add", for floats of these sizes.
inline std::string twice_model(std::string_view op_type, const std::vector<std::int64_t>& sizes) {
  const ProtoWriter node = ProtoWriter().text(1, "x").text(1, "x").text(2, "y").text(4, op_type);
  return model_of(ProtoWriter()
                      .message(1, node)
                      .text(2, "twice")
                      .message(11, tensor_info("x", kOnnxFloat, sizes))
                      .message(12, tensor_info("y", kOnnxFloat, sizes)));
}

/// y = OPERATOR(x, x), with any number of rows of `columns` floats.
inline std::string twice_model(std::string_view op_type, std::int64_t columns) {
  return twice_model(op_type, std::vector<std::int64_t>{-1, columns});
}

}  // namespace berth::testing
