#include "models/onnx/detail/light_copy.h"

#include <memory>
#include <utility>

#include "base/core/ensure.h"
#include "models/onnx/detail/graph_proto.h"

namespace berth::models::detail {
namespace {

GraphPtr light_graph(const GraphPtr& graph) { return std::make_shared<const Graph>(without_weights(*graph)); }

}  // namespace

bool is_heavy(const Constant& constant) { return constant.bytes.size() > kLightBytesMax; }

ConstantPtr light(const ConstantPtr& constant) {
  if (!is_heavy(*constant)) return constant;
  return share({.type = constant->type, .dims = constant->dims, .bytes = std::string(1, '\0')});
}

Graph without_weights(Graph graph) {
  for (auto& [name, constant] : graph.initializers) constant = light(constant);
  for (Node& node : graph.nodes) {
    for (auto& [name, value] : node.attributes) {
      if (auto* const constant = std::get_if<ConstantPtr>(&value)) *constant = light(*constant);
      if (auto* const inner = std::get_if<GraphPtr>(&value)) *inner = light_graph(*inner);
      if (auto* const several = std::get_if<std::vector<GraphPtr>>(&value)) {
        for (GraphPtr& inner : *several) inner = light_graph(inner);
      }
    }
  }
  return graph;
}

onnx::ModelProto model_proto(const Model& model) {
  onnx::ModelProto proto;
  ENSURE(proto.ParsePartialFromString(model.rest));
  proto.set_ir_version(model.ir_version);
  for (const auto& [domain, version] : model.opsets) {
    onnx::OperatorSetIdProto& entry = *proto.add_opset_import();
    entry.set_domain(domain);
    entry.set_version(version);
  }
  *proto.mutable_graph() = graph_proto(model.graph);
  return proto;
}

}  // namespace berth::models::detail
