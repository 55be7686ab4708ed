#include "models/onnx/write_model.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/core/ensure.h"
#include "models/onnx/detail/graph_proto.h"
#include "models/onnx/read_model.h"

namespace berth::models {
namespace {

using google::protobuf::io::CodedOutputStream;

// Fields of the messages that are written here piece by piece, so that weights are copied once (onnx.proto).
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphInitializer = 5;
constexpr std::uint32_t kTensorRawData = 9;

constexpr std::uint32_t tag_of(std::uint32_t field) { return (field << 3) | 2; }

std::size_t varint_bytes(std::size_t value) { return CodedOutputStream::VarintSize64(value); }

/// Of a field of `bytes` bytes, with its tag (of one byte) and its length.
std::size_t field_bytes(std::size_t bytes) { return 1 + varint_bytes(bytes) + bytes; }

void append_head(std::string& out, std::uint32_t field, std::size_t bytes) {
  std::array<std::uint8_t, 16> head{};
  std::uint8_t* end = CodedOutputStream::WriteVarint32ToArray(tag_of(field), head.data());
  end = CodedOutputStream::WriteVarint64ToArray(bytes, end);
  out.append(head.begin(), end);
}

void append_message(std::string& out, const google::protobuf::MessageLite& message) {
  ENSURE(message.AppendPartialToString(&out));
}

/// The model in pieces whose bytes, one after another, are the file.
struct ModelPieces {
  onnx::ModelProto front;  ///< fields before the graph
  detail::GraphPieces graph;
  onnx::ModelProto back;
};

ModelPieces model_pieces(const Model& model) {
  ModelPieces pieces;
  pieces.graph = detail::graph_pieces(model.graph);
  ENSURE(pieces.back.ParsePartialFromString(model.rest));
  // In the order of the fields' numbers, as protocol buffers write them.
  pieces.front.set_ir_version(model.ir_version);
  const auto move_text = [&](bool has, const std::string& text, auto set, auto clear) {
    if (!has) return;
    (pieces.front.*set)()->assign(text);
    (pieces.back.*clear)();
  };
  using onnx::ModelProto;
  ModelProto& back = pieces.back;
  move_text(back.has_producer_name(), back.producer_name(), &ModelProto::mutable_producer_name,
            &ModelProto::clear_producer_name);
  move_text(back.has_producer_version(), back.producer_version(), &ModelProto::mutable_producer_version,
            &ModelProto::clear_producer_version);
  move_text(back.has_domain(), back.domain(), &ModelProto::mutable_domain, &ModelProto::clear_domain);
  move_text(back.has_doc_string(), back.doc_string(), &ModelProto::mutable_doc_string, &ModelProto::clear_doc_string);
  if (back.has_model_version()) pieces.front.set_model_version(back.model_version());
  back.clear_model_version();
  for (const auto& [domain, version] : model.opsets) {
    onnx::OperatorSetIdProto& entry = *back.add_opset_import();
    entry.set_domain(domain);
    entry.set_version(version);
  }
  return pieces;
}

}  // namespace

Result<std::string> write_model(const Model& model) {
  const ModelPieces pieces = model_pieces(model);
  // Raw data comes after the other fields of its tensor: to readers, the order of fields makes no difference.
  std::size_t graph_bytes = pieces.graph.front.ByteSizeLong() + pieces.graph.back.ByteSizeLong();
  std::vector<std::size_t> tensor_bytes;
  auto tensor = pieces.graph.tensors.begin();
  for (const auto& [name, constant] : model.graph.initializers) {
    const bool is_raw = constant->type != ElementType::kString;
    tensor_bytes.push_back((tensor++)->ByteSizeLong() + (is_raw ? field_bytes(constant->bytes.size()) : 0));
    graph_bytes += field_bytes(tensor_bytes.back());
  }
  const std::size_t bytes = pieces.front.ByteSizeLong() + field_bytes(graph_bytes) + pieces.back.ByteSizeLong();
  if (bytes > kModelBytesMax) {
    return invalid(fmt::format("wanted a model of at most {} bytes, found {}", kModelBytesMax, bytes));
  }

  std::string out;
  out.reserve(bytes);
  append_message(out, pieces.front);
  append_head(out, kModelGraph, graph_bytes);
  append_message(out, pieces.graph.front);
  std::size_t index = 0;
  for (const auto& [name, constant] : model.graph.initializers) {
    append_head(out, kGraphInitializer, tensor_bytes[index]);
    append_message(out, pieces.graph.tensors[index]);
    if (constant->type != ElementType::kString) {
      append_head(out, kTensorRawData, constant->bytes.size());
      out += constant->bytes;
    }
    ++index;
  }
  append_message(out, pieces.graph.back);
  append_message(out, pieces.back);
  ENSURE(out.size() == bytes);
  return out;
}

}  // namespace berth::models
