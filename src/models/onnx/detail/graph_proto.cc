#include "models/onnx/detail/graph_proto.h"

#include <map>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "models/onnx/detail/tensor_proto.h"

namespace berth::models::detail {
namespace {

/// Of bytes that this folder wrote.
template <class Message>
Message parsed(const std::string& bytes) {
  Message message;
  ENSURE(message.ParsePartialFromString(bytes));
  return message;
}

void put_value(const AttributeValue& value, onnx::AttributeProto& proto) {
  if (!std::holds_alternative<ConstantPtr>(value)) proto.clear_t();
  using onnx::AttributeProto;
  std::visit(Overloaded{
                 [&](std::int64_t number) {
                   proto.set_type(AttributeProto::INT);
                   proto.set_i(number);
                 },
                 [&](float number) {
                   proto.set_type(AttributeProto::FLOAT);
                   proto.set_f(number);
                 },
                 [&](const std::string& text) {
                   proto.set_type(AttributeProto::STRING);
                   proto.set_s(text);
                 },
                 [&](const std::vector<std::int64_t>& numbers) {
                   proto.set_type(AttributeProto::INTS);
                   proto.mutable_ints()->Add(numbers.begin(), numbers.end());
                 },
                 [&](const std::vector<float>& numbers) {
                   proto.set_type(AttributeProto::FLOATS);
                   proto.mutable_floats()->Add(numbers.begin(), numbers.end());
                 },
                 [&](const std::vector<std::string>& texts) {
                   proto.set_type(AttributeProto::STRINGS);
                   for (const std::string& text : texts) proto.add_strings(text);
                 },
                 [&](const ConstantPtr& constant) {
                   proto.set_type(AttributeProto::TENSOR);
                   put_constant(*constant, *proto.mutable_t());
                 },
                 [&](const GraphPtr& graph) {
                   proto.set_type(AttributeProto::GRAPH);
                   *proto.mutable_g() = graph_proto(*graph);
                 },
                 [&](const std::vector<GraphPtr>& graphs) {
                   proto.set_type(AttributeProto::GRAPHS);
                   for (const GraphPtr& graph : graphs) *proto.add_graphs() = graph_proto(*graph);
                 },
                 [&](const OpaqueAttribute& opaque) { proto = parsed<AttributeProto>(opaque.bytes); },
             },
             value);
}

void put_node(const Node& node, onnx::NodeProto& proto) {
  proto = parsed<onnx::NodeProto>(node.rest);
  if (!node.name.empty()) proto.set_name(node.name);
  proto.set_op_type(node.op);
  if (!node.domain.empty()) proto.set_domain(node.domain);
  for (const std::string& name : node.inputs) proto.add_input(name);
  for (const std::string& name : node.outputs) proto.add_output(name);
  std::map<std::string, onnx::AttributeProto> more;
  for (onnx::AttributeProto& attribute : *proto.mutable_attribute()) more[attribute.name()] = std::move(attribute);
  proto.clear_attribute();
  for (const auto& [name, value] : node.attributes) {
    onnx::AttributeProto& attribute = *proto.add_attribute();
    if (const auto found = more.find(name); found != more.end()) attribute = std::move(found->second);
    put_value(value, attribute);
    attribute.set_name(name);
  }
}

void put_info(const ValueInfo& info, onnx::ValueInfoProto& proto) {
  if (!info.proto.empty()) {
    proto = parsed<onnx::ValueInfoProto>(info.proto);
  } else if (info.type != ElementType::kUndefined) {
    onnx::TypeProto::Tensor& tensor = *proto.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(static_cast<std::int32_t>(info.type));
    if (info.shape) tensor.mutable_shape();
    for (const Dimension& dimension : info.shape.value_or(std::vector<Dimension>())) {
      onnx::TensorShapeProto::Dimension& dim = *tensor.mutable_shape()->add_dim();
      if (dimension.size) {
        dim.set_dim_value(*dimension.size);
      } else if (!dimension.symbol.empty()) {
        dim.set_dim_param(dimension.symbol);
      }
    }
  }
  proto.set_name(info.name);
}

}  // namespace

GraphPieces graph_pieces(const Graph& graph) {
  GraphPieces pieces;
  pieces.back = parsed<onnx::GraphProto>(graph.rest);
  for (const Node& node : graph.nodes) put_node(node, *pieces.front.add_node());
  if (!graph.name.empty()) pieces.front.set_name(graph.name);

  std::map<std::string, onnx::TensorProto> more;
  for (onnx::TensorProto& tensor : *pieces.back.mutable_initializer()) more[tensor.name()] = std::move(tensor);
  pieces.back.clear_initializer();
  for (const auto& [name, constant] : graph.initializers) {
    onnx::TensorProto& tensor = pieces.tensors.emplace_back();
    if (const auto found = more.find(name); found != more.end()) tensor = std::move(found->second);
    tensor.set_name(name);
    if (constant->type == ElementType::kString) {
      put_constant(*constant, tensor);
    } else {
      put_shape(*constant, tensor);
    }
  }
  for (const ValueInfo& info : graph.inputs) put_info(info, *pieces.back.add_input());
  for (const ValueInfo& info : graph.outputs) put_info(info, *pieces.back.add_output());
  for (const ValueInfo& info : graph.values) put_info(info, *pieces.back.add_value_info());
  return pieces;
}

onnx::GraphProto graph_proto(const Graph& graph) {
  GraphPieces pieces = graph_pieces(graph);
  onnx::GraphProto proto = std::move(pieces.back);
  proto.mutable_node()->Swap(pieces.front.mutable_node());
  if (pieces.front.has_name()) proto.set_name(pieces.front.name());
  std::size_t index = 0;
  for (const auto& [name, constant] : graph.initializers) {
    onnx::TensorProto& tensor = *proto.add_initializer();
    tensor = std::move(pieces.tensors[index++]);
    if (constant->type != ElementType::kString) tensor.set_raw_data(constant->bytes);
  }
  return proto;
}

}  // namespace berth::models::detail
