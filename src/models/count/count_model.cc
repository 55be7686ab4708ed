#include "models/count/count_model.h"

#include <algorithm>
#include <string_view>

#include "models/count/detail/multiply_adds.h"
#include "models/count/detail/total.h"
#include "models/count/detail/weights.h"

namespace berth::models {
namespace {

/// A node of another domain is a function that the model brings along: engines know only their own.
bool is_engine_domain(std::string_view domain) {
  return domain.empty() || domain.starts_with("ai.onnx") || domain.starts_with("com.microsoft") ||
         domain.starts_with("com.ms.");
}

bool has_inner_nodes(const Graph& graph) {
  return std::ranges::any_of(
      graph.nodes, [](const Node& node) { return !is_engine_domain(node.domain) || !graphs_in(node).empty(); });
}

std::optional<std::int64_t> count_flops(const Graph& graph, const ValueShapes& shapes) {
  detail::Total total;
  for (const Node& node : graph.nodes) total.add_twice(detail::multiply_adds(node, shapes));
  return total.sum();
}

std::optional<std::int64_t> count_activation_bytes(const Graph& graph, const ValueShapes& shapes) {
  detail::Total total;
  for (const Node& node : graph.nodes) {
    if (is_op(node, "Constant")) continue;
    for (const std::string& output : node.outputs) {
      if (!output.empty()) total.add(detail::bytes_of_value(output, shapes));
    }
  }
  return total.sum();
}

}  // namespace

ModelCount count_model(const Model& model, const ValueShapes& shapes) {
  if (has_inner_nodes(model.graph)) return {};
  const detail::WeightCount weights = detail::count_weights(model.graph);
  return {.flops = count_flops(model.graph, shapes),
          .activation_bytes = count_activation_bytes(model.graph, shapes),
          .parameters = weights.parameters,
          .weight_bytes = weights.bytes};
}

}  // namespace berth::models
