#include "models/fp16/half_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/fp16/detail/half_constant.h"
#include "models/graph/graph_edit.h"

namespace berth::models {
namespace {

/// Of graphs inside nodes of graphs: deeper ones stay as they are.
constexpr int kGraphDepthMax = 16;

std::set<std::string, std::less<>> fixed_names(const Graph& graph) {
  std::set<std::string, std::less<>> names;
  for (const ValueInfo& input : graph.inputs) names.insert(input.name);
  for (const ValueInfo& output : graph.outputs) names.insert(output.name);
  return names;
}

class Halving {
 public:
  Halving(const Model& model, const HalfWeightsOptions& options)
      : options_(options), halves_{.model = model}, names_(model.graph) {}

  HalfWeights run() {
    halve(halves_.model.graph, 0);
    return std::move(halves_);
  }

 private:
  void halve(Graph& graph, int depth);
  void halve_inside(AttributeValue& value, int depth);
  void halve_inner(GraphPtr& graph, int depth);
  [[nodiscard]] bool can_halve(const Constant& constant) const;

  const HalfWeightsOptions& options_;
  HalfWeights halves_;
  ValueNames names_;
};

bool Halving::can_halve(const Constant& constant) const {
  return constant.type == ElementType::kFloat &&
         static_cast<std::size_t>(count_of(constant.dims)) >= std::max<std::size_t>(1, options_.elements_min) &&
         std::ranges::all_of(to_floats(constant), [](float number) { return std::isfinite(number); });
}

void Halving::halve(Graph& graph, int depth) {
  if (depth < kGraphDepthMax) {
    for (Node& node : graph.nodes) {
      for (auto& [name, value] : node.attributes) halve_inside(value, depth + 1);
    }
  }
  const auto fixed = fixed_names(graph);
  std::vector<Node> casts;
  std::map<std::string, ConstantPtr, std::less<>> kept;
  for (const auto& [name, constant] : graph.initializers) {
    if (fixed.contains(name) || !can_halve(*constant)) {
      kept.emplace(name, constant);
      continue;
    }
    HalfConstant half = half_constant(*constant);
    const std::string half_name = names_.make(name + "_half");
    kept.emplace(half_name, std::move(half.constant));
    casts.push_back({.name = half_name,
                     .op = "Cast",
                     .inputs = {half_name},
                     .outputs = {name},
                     .attributes = {{"to", static_cast<std::int64_t>(ElementType::kFloat)}}});
    ++halves_.changed_count;
    halves_.clipped_count += half.clipped_count;
  }
  graph.initializers = std::move(kept);
  graph.nodes.insert(graph.nodes.begin(), std::make_move_iterator(casts.begin()), std::make_move_iterator(casts.end()));
}

void Halving::halve_inner(GraphPtr& graph, int depth) {
  const std::size_t before = halves_.changed_count;
  Graph copy = *graph;
  halve(copy, depth);
  if (halves_.changed_count > before) graph = std::make_shared<const Graph>(std::move(copy));
}

void Halving::halve_inside(AttributeValue& value, int depth) {
  if (auto* inner = std::get_if<GraphPtr>(&value)) halve_inner(*inner, depth);
  if (auto* several = std::get_if<std::vector<GraphPtr>>(&value)) {
    for (GraphPtr& inner : *several) halve_inner(inner, depth);
  }
}

}  // namespace

HalfWeights halve_weights(const Model& model, const HalfWeightsOptions& options) {
  return Halving(model, options).run();
}

}  // namespace berth::models
