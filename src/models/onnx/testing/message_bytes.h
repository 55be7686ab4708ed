// Parts of ONNX files written field by field (onnx.proto): also those that its classes would not write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/onnx_file/testing/test_models.h"

namespace berth::testing {

/// A node without a name and attributes.
inline ProtoWriter node_bytes(std::string_view op, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs) {
  ProtoWriter node;
  for (const std::string& input : inputs) node.text(1, input);
  for (const std::string& output : outputs) node.text(2, output);
  return node.text(4, op);
}

/// A tensor without a name and elements. `type`: of TensorProto.DataType.
inline ProtoWriter tensor_bytes(const std::vector<std::int64_t>& dims, std::uint64_t type) {
  ProtoWriter tensor;
  for (const std::int64_t dim : dims) tensor.number(1, static_cast<std::uint64_t>(dim));
  return tensor.number(2, type);
}

}  // namespace berth::testing
