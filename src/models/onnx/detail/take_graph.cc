#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "base/core/text.h"
#include "models/onnx/detail/graph_proto.h"
#include "models/onnx/detail/tensor_proto.h"

namespace berth::models::detail {
namespace {

Result<void> check_name(std::string_view name, std::string_view what) {
  if (find_bad_utf8(name) == std::string_view::npos) return {};
  return invalid(fmt::format("the name of {} is not UTF-8: {}", what, in_quotes(name)));
}

std::string node_text(const onnx::NodeProto& proto) {
  return fmt::format("node {} ({})", in_quotes(proto.name()), in_quotes(proto.op_type()));
}

Result<ConstantPtr> take_shared(onnx::TensorProto& tensor) {
  Result<Constant> constant = take_constant(tensor);
  if (!constant) return pass_on(constant.error());
  return share(std::move(*constant));
}

Result<GraphPtr> take_inner(onnx::GraphProto& proto) {
  Result<Graph> graph = take_graph(proto);
  if (!graph) return pass_on(graph.error());
  return std::make_shared<const Graph>(std::move(*graph));
}

Result<std::vector<GraphPtr>> take_graphs(onnx::AttributeProto& proto) {
  std::vector<GraphPtr> graphs;
  for (onnx::GraphProto& inner : *proto.mutable_graphs()) {
    Result<GraphPtr> graph = take_inner(inner);
    if (!graph) return pass_on(graph.error());
    graphs.push_back(std::move(*graph));
  }
  proto.clear_graphs();
  return graphs;
}

/// Moves the value out of the attribute; what stays in it is what AttributeValue does not have.
Result<AttributeValue> take_value(onnx::AttributeProto& proto) {
  if (!proto.ref_attr_name().empty()) return OpaqueAttribute{proto.SerializePartialAsString()};
  AttributeValue value;
  switch (proto.type()) {
    case onnx::AttributeProto::INT:
      value = static_cast<std::int64_t>(proto.i());
      proto.clear_i();
      return value;
    case onnx::AttributeProto::FLOAT:
      value = proto.f();
      proto.clear_f();
      return value;
    case onnx::AttributeProto::STRING:
      value = std::move(*proto.mutable_s());
      proto.clear_s();
      return value;
    case onnx::AttributeProto::INTS:
      value = std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
      proto.clear_ints();
      return value;
    case onnx::AttributeProto::FLOATS:
      value = std::vector<float>(proto.floats().begin(), proto.floats().end());
      proto.clear_floats();
      return value;
    case onnx::AttributeProto::STRINGS:
      value = std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      proto.clear_strings();
      return value;
    case onnx::AttributeProto::TENSOR:
      return take_shared(*proto.mutable_t());
    case onnx::AttributeProto::GRAPH: {
      Result<GraphPtr> graph = take_inner(*proto.mutable_g());
      if (!graph) return pass_on(graph.error());
      proto.clear_g();
      return *graph;
    }
    case onnx::AttributeProto::GRAPHS:
      return take_graphs(proto);
    case onnx::AttributeProto::UNDEFINED:
    case onnx::AttributeProto::TENSORS:
    case onnx::AttributeProto::SPARSE_TENSOR:
    case onnx::AttributeProto::SPARSE_TENSORS:
    case onnx::AttributeProto::TYPE_PROTO:
    case onnx::AttributeProto::TYPE_PROTOS:
      break;
  }
  return OpaqueAttribute{proto.SerializePartialAsString()};
}

/// Whether the attribute says more than its name, now that its value was taken.
bool has_more(onnx::AttributeProto& proto) {
  proto.clear_type();
  if (proto.has_t() && proto.t().ByteSizeLong() == 0) proto.clear_t();
  const std::size_t name_bytes = [&] {
    onnx::AttributeProto name_only;
    name_only.set_name(proto.name());
    return name_only.ByteSizeLong();
  }();
  return proto.ByteSizeLong() > name_bytes;
}

/// Attributes that say more than their name stay in `proto`.
Result<void> take_attributes(onnx::NodeProto& proto, Node& node) {
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> more;
  for (onnx::AttributeProto& attribute : *proto.mutable_attribute()) {
    const std::string name = attribute.name();
    if (Result<void> named = check_name(name, "an attribute"); !named) return named;
    Result<AttributeValue> value = take_value(attribute);
    if (!value) return invalid(fmt::format("attribute {}: {}", in_quotes(name), value.error().message));
    const bool is_opaque = std::holds_alternative<OpaqueAttribute>(*value);
    if (!node.attributes.emplace(name, std::move(*value)).second) {
      return invalid(fmt::format("two attributes are named {}", in_quotes(name)));
    }
    if (!is_opaque && has_more(attribute)) *more.Add() = std::move(attribute);
  }
  proto.mutable_attribute()->Swap(&more);
  return {};
}

Result<Node> take_node(onnx::NodeProto& proto) {
  Node node{.name = proto.name(),
            .op = proto.op_type(),
            .domain = domain_from(proto.domain()),
            .inputs = {proto.input().begin(), proto.input().end()},
            .outputs = {proto.output().begin(), proto.output().end()}};
  for (const std::string* const name : {&node.name, &node.op, &node.domain}) {
    if (Result<void> named = check_name(*name, "a node"); !named) return pass_on(named.error());
  }
  if (node.op.empty()) return invalid(fmt::format("{}: it has no operator", node_text(proto)));
  for (const auto* const values : {&node.inputs, &node.outputs}) {
    for (const std::string& name : *values) {
      if (Result<void> named = check_name(name, "a value"); !named) return pass_on(named.error());
    }
  }
  if (Result<void> taken = take_attributes(proto, node); !taken) {
    return fail(taken.error().code, fmt::format("{}: {}", node_text(proto), taken.error().message));
  }
  proto.clear_name();
  proto.clear_op_type();
  proto.clear_domain();
  proto.clear_input();
  proto.clear_output();
  node.rest = proto.SerializePartialAsString();
  return node;
}

/// Names stay in `proto` with what they have beyond a Constant, such as a description.
Result<void> take_initializers(onnx::GraphProto& proto, Graph& graph) {
  google::protobuf::RepeatedPtrField<onnx::TensorProto> more;
  for (onnx::TensorProto& tensor : *proto.mutable_initializer()) {
    if (Result<void> named = check_name(tensor.name(), "an initializer"); !named) return named;
    Result<ConstantPtr> constant = take_shared(tensor);
    if (!constant) return pass_on(constant.error());
    if (!graph.initializers.emplace(tensor.name(), std::move(*constant)).second) {
      return invalid(fmt::format("two initializers are named {}", in_quotes(tensor.name())));
    }
    onnx::TensorProto name_only;
    name_only.set_name(tensor.name());
    if (tensor.ByteSizeLong() > name_only.ByteSizeLong()) *more.Add() = std::move(tensor);
  }
  proto.mutable_initializer()->Swap(&more);
  for (const onnx::SparseTensorProto& sparse : proto.sparse_initializer())
    graph.sparse.push_back(sparse.values().name());
  return {};
}

std::vector<Dimension> dimensions_of(const onnx::TensorShapeProto& proto) {
  std::vector<Dimension> shape;
  for (const onnx::TensorShapeProto::Dimension& dim : proto.dim()) {
    Dimension dimension;
    if (dim.has_dim_value() && dim.dim_value() >= 0) dimension.size = dim.dim_value();
    if (dim.has_dim_param()) dimension.symbol = dim.dim_param();
    shape.push_back(std::move(dimension));
  }
  return shape;
}

Result<std::vector<ValueInfo>> take_infos(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& protos) {
  std::vector<ValueInfo> infos;
  for (const onnx::ValueInfoProto& proto : protos) {
    if (Result<void> named = check_name(proto.name(), "a value"); !named) return pass_on(named.error());
    ValueInfo info{.name = proto.name(), .proto = proto.SerializePartialAsString()};
    if (proto.type().has_tensor_type()) {
      const onnx::TypeProto::Tensor& tensor = proto.type().tensor_type();
      info.type = static_cast<ElementType>(tensor.elem_type());
      if (tensor.has_shape()) info.shape = dimensions_of(tensor.shape());
    }
    infos.push_back(std::move(info));
  }
  protos.Clear();
  return infos;
}

}  // namespace

std::string domain_from(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

Result<Graph> take_graph(onnx::GraphProto& proto) {
  Graph graph{.name = proto.name()};
  for (onnx::NodeProto& node_message : *proto.mutable_node()) {
    Result<Node> node = take_node(node_message);
    if (!node) return pass_on(node.error());
    graph.nodes.push_back(std::move(*node));
  }
  if (Result<void> taken = take_initializers(proto, graph); !taken) return pass_on(taken.error());
  for (auto [from, to] : {std::pair{proto.mutable_input(), &graph.inputs},
                          {proto.mutable_output(), &graph.outputs},
                          {proto.mutable_value_info(), &graph.values}}) {
    Result<std::vector<ValueInfo>> infos = take_infos(*from);
    if (!infos) return pass_on(infos.error());
    *to = std::move(*infos);
  }
  proto.clear_name();
  proto.clear_node();
  graph.rest = proto.SerializePartialAsString();
  return graph;
}

}  // namespace berth::models::detail
