#include "models/onnx/check_model.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <exception>
#include <string>

#include "models/graph/graph_edit.h"
#include "models/onnx/detail/light_copy.h"

namespace berth::models {
namespace {

/// The latest version of the format that libonnx's checker accepts.
constexpr std::int64_t kCheckedIrMax = 8;

/// Whether libonnx knows these versions of all operators that are not of other makers.
bool knows_opsets(const Model& model) {
  const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  return std::ranges::all_of(model.opsets, [&](const auto& opset) {
    const auto range = ranges.find(opset.first);
    return range == ranges.end() || opset.second <= range->second.second;
  });
}

void fill_shape(onnx::ValueInfoProto& info) {
  if (info.type().has_tensor_type()) info.mutable_type()->mutable_tensor_type()->mutable_shape();
}

/// Says what the checker wants and no engine needs: a name of the graph, and shapes of its inputs and outputs.
void fill_in(onnx::GraphProto& graph) {
  if (graph.name().empty()) graph.set_name("graph");
  for (onnx::ValueInfoProto& info : *graph.mutable_input()) fill_shape(info);
  for (onnx::ValueInfoProto& info : *graph.mutable_output()) fill_shape(info);
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) fill_in(*attribute.mutable_g());
      for (onnx::GraphProto& inner : *attribute.mutable_graphs()) fill_in(inner);
    }
  }
}

/// A message on one line.
std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

Result<void> check_proto(const onnx::ModelProto& proto) {
  const google::protobuf::LogSilencer silence;
  try {
    onnx::checker::check_model(proto);
    return {};
  } catch (const std::exception& error) {
    return invalid(fmt::format("libonnx's checker: {}", in_one_line(error.what())));
  } catch (...) {
    return invalid("libonnx's checker: unknown error");
  }
}

}  // namespace

Result<void> check_model(const Model& model) {
  if (Result<void> checked = check_names(model.graph); !checked) return checked;
  if (!knows_opsets(model)) return {};
  Model light{.ir_version = std::min(model.ir_version, kCheckedIrMax),
              .opsets = model.opsets,
              .graph = detail::without_weights(model.graph),
              .rest = model.rest};
  onnx::ModelProto proto = detail::model_proto(light);
  fill_in(*proto.mutable_graph());
  return check_proto(proto);
}

}  // namespace berth::models
