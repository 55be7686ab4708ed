#include "models/onnx/raise_opset.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>
#include <onnx/version_converter/convert.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "models/graph/graph_edit.h"
#include "models/onnx/detail/graph_proto.h"
#include "models/onnx/detail/light_copy.h"

namespace berth::models {
namespace {

constexpr std::int64_t kRaisedOpsetMax = 17;

/// The version of the format that came with a version of the operators, 11 to 17.
std::int64_t ir_version_of(std::int64_t opset) {
  if (opset < 12) return 6;
  return opset < 15 ? 7 : 8;
}

/// Whether the converter can take the graph, and those inside it.
Result<void> check_convertible(const Graph& graph) {
  if (!graph.sparse.empty()) return invalid("it has sparse initializers");
  for (const Node& node : graph.nodes) {
    if (!node.domain.empty()) {
      return invalid(
          fmt::format("it has operators of another domain: {} of {}", in_quotes(node.op), in_quotes(node.domain)));
    }
    for (const auto& [name, value] : node.attributes) {
      if (!std::holds_alternative<OpaqueAttribute>(value)) continue;
      return invalid(
          fmt::format("attribute {} of {} is of another kind than it knows", in_quotes(name), in_quotes(node.op)));
    }
    for (const GraphPtr& inner : graphs_in(node)) {
      if (Result<void> checked = check_convertible(*inner); !checked) return checked;
    }
  }
  return {};
}

Result<onnx::ModelProto> convert(const onnx::ModelProto& proto, std::int64_t opset) {
  const google::protobuf::LogSilencer silence;
  try {
    return onnx::version_conversion::ConvertVersion(proto, static_cast<int>(opset));
  } catch (const std::exception& error) {
    return invalid(error.what());
  } catch (...) {
    return invalid("unknown error");
  }
}

/// Empty tensors for the weights that were left out, so that all can be read.
void empty_heavy(const Model& model, onnx::GraphProto& proto) {
  for (onnx::TensorProto& tensor : *proto.mutable_initializer()) {
    const auto found = model.graph.initializers.find(tensor.name());
    if (found == model.graph.initializers.end() || !detail::is_heavy(*found->second)) continue;
    tensor.clear_dims();
    tensor.add_dims(0);
    tensor.clear_raw_data();
  }
}

void restore_rest(const Graph& from, Graph& to);

/// With the graphs inside it.
void restore_rest(const Node& from, Node& to) {
  to.rest = from.rest;
  for (auto& [name, value] : to.attributes) {
    const auto known = from.attributes.find(name);
    const auto* const converted = std::get_if<GraphPtr>(&value);
    if (converted == nullptr || known == from.attributes.end()) continue;
    const auto* const original = std::get_if<GraphPtr>(&known->second);
    if (original == nullptr) continue;
    auto graph = std::make_shared<Graph>(**converted);
    restore_rest(**original, *graph);
    value = GraphPtr(std::move(graph));
  }
}

/// Descriptions, and what else the converter does not keep of nodes: they are known by their outputs.
void restore_rest(const Graph& from, Graph& to) {
  std::map<std::vector<std::string>, const Node*> originals;
  for (const Node& node : from.nodes) originals.emplace(node.outputs, &node);
  for (Node& node : to.nodes) {
    const auto original = originals.find(node.outputs);
    if (original != originals.end() && original->second->op == node.op) restore_rest(*original->second, node);
  }
  to.rest = from.rest;
}

/// Weights that were left out, and what the converter does not keep.
Result<void> restore(const Model& model, Graph& graph) {
  for (const auto& [name, constant] : model.graph.initializers) {
    const auto found = graph.initializers.find(name);
    if (found != graph.initializers.end()) {
      found->second = constant;
    } else if (detail::is_heavy(*constant)) {
      return invalid(fmt::format("initializer {} is gone", in_quotes(name)));
    }
  }
  const auto have_same_names = [](const std::vector<ValueInfo>& a, const std::vector<ValueInfo>& b) {
    return std::ranges::equal(a, b, {}, &ValueInfo::name, &ValueInfo::name);
  };
  if (!have_same_names(graph.inputs, model.graph.inputs) || !have_same_names(graph.outputs, model.graph.outputs)) {
    return invalid("its inputs or outputs have other names");
  }
  graph.name = model.graph.name;
  graph.inputs = model.graph.inputs;
  graph.outputs = model.graph.outputs;
  restore_rest(model.graph, graph);
  return check_names(graph);
}

/// The file may say nothing of values in between.
void add_shapes(const ValueShapes& shapes, Graph& graph) {
  const auto is_listed = [&graph](const std::string& name) {
    return std::ranges::any_of(std::array{&graph.inputs, &graph.outputs, &graph.values}, [&](const auto* infos) {
      return std::ranges::find(*infos, name, &ValueInfo::name) != infos->end();
    });
  };
  for (const auto& [name, shape] : shapes) {
    if (shape.type == ElementType::kUndefined || !shape.dims || graph.initializers.contains(name) || is_listed(name)) {
      continue;
    }
    std::vector<Dimension> dims;
    for (const std::int64_t size : *shape.dims) dims.push_back(size < 0 ? Dimension{} : Dimension{.size = size});
    graph.values.push_back({.name = name, .type = shape.type, .shape = std::move(dims)});
  }
}

/// Those that the model had.
void keep_values(const Model& model, Graph& graph) {
  std::erase_if(graph.values, [&model](const ValueInfo& value) {
    return std::ranges::find(model.graph.values, value.name, &ValueInfo::name) == model.graph.values.end();
  });
}

Result<Model> raise(const Model& model, std::int64_t opset, const ValueShapes& shapes) {
  if (Result<void> checked = check_convertible(model.graph); !checked) return pass_on(checked.error());
  Model light{
      .ir_version = std::min<std::int64_t>(model.ir_version, 8), .opsets = {{"", model.opset()}}, .graph = model.graph};
  for (auto& [name, constant] : light.graph.initializers) constant = detail::light(constant);
  add_shapes(shapes, light.graph);
  Result<onnx::ModelProto> converted = convert(detail::model_proto(light), opset);
  if (!converted) return pass_on(converted.error());
  empty_heavy(model, *converted->mutable_graph());
  Result<Graph> graph = detail::take_graph(*converted->mutable_graph());
  if (!graph) return pass_on(graph.error());
  keep_values(model, *graph);
  Model raised{.ir_version = std::max(model.ir_version, ir_version_of(opset)),
               .opsets = model.opsets,
               .graph = std::move(*graph),
               .rest = model.rest};
  raised.opsets[""] = opset;
  if (Result<void> restored = restore(model, raised.graph); !restored) return pass_on(restored.error());
  return raised;
}

}  // namespace

Result<Model> raise_opset(const Model& model, std::int64_t opset, const ValueShapes& shapes) {
  ENSURE(opset <= kRaisedOpsetMax);
  if (model.opset() >= opset || model.opset() == 0) return model;
  Result<Model> raised = raise(model, opset, shapes);
  if (raised) return raised;
  return invalid(fmt::format("cannot be converted from version {} of the operators to {}: {}", model.opset(), opset,
                             raised.error().message));
}

}  // namespace berth::models
