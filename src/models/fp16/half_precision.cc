#include "models/fp16/half_precision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/fp16/detail/half_constant.h"
#include "models/graph/graph_edit.h"
#include "models/graph/graph_index.h"
#include "models/graph/half.h"

namespace berth::models {
namespace {

constexpr auto kHalfOperators = std::to_array<std::string_view>({
    "Abs",
    "Add",
    "AveragePool",
    "BatchNormalization",
    "Clip",
    "Concat",
    "Conv",
    "ConvTranspose",
    "DepthToSpace",
    "Div",
    "Elu",
    "Erf",
    "Expand",
    "Flatten",
    "GRU",
    "Gather",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "InstanceNormalization",
    "LSTM",
    "LayerNormalization",
    "LeakyRelu",
    "MatMul",
    "Max",
    "MaxPool",
    "Min",
    "Mul",
    "Neg",
    "PRelu",
    "Pad",
    "Relu",
    "Reshape",
    "Selu",
    "Sigmoid",
    "Slice",
    "Softmax",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Sub",
    "Sum",
    "Tanh",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
});
static_assert(std::ranges::is_sorted(kHalfOperators));

constexpr float kHalfNormalMin = 0x1.0p-14F;

Node cast(const std::string& from, const std::string& to, ElementType type) {
  return {.name = to + "_cast",
          .op = "Cast",
          .inputs = {from},
          .outputs = {to},
          .attributes = {{"to", static_cast<std::int64_t>(type)}}};
}

/// Each float value has a name in either precision: its own is the float one.
class PrecisionHalving {
 public:
  PrecisionHalving(const Model& model, const ValueShapes& shapes)
      : model_(model), graph_(model.graph), shapes_(shapes), index_(model.graph), names_(model.graph) {
    for (const ValueInfo& input : graph_.inputs) inputs_.insert(input.name);
  }

  HalfPrecision run();

 private:
  [[nodiscard]] bool is_constant(const std::string& value) const;
  [[nodiscard]] ElementType type_of(const std::string& value) const;
  [[nodiscard]] bool is_float(const std::string& value) const { return type_of(value) == ElementType::kFloat; }
  [[nodiscard]] bool becomes_half(const Node& node) const;
  [[nodiscard]] bool fits_half(const Constant& constant) const;
  /// By one of the nodes that take it, or as an output of the graph.
  [[nodiscard]] bool is_wanted(const std::string& value, bool as_half) const;
  const std::string& half_name(const std::string& value);
  void add_input_casts(Graph& graph);
  void add_node(Graph& graph, const Node& node, bool is_half);

  const Model& model_;
  const Graph& graph_;
  const ValueShapes& shapes_;
  GraphIndex index_;
  ValueNames names_;
  std::set<std::string, std::less<>> inputs_;
  std::vector<bool> is_half_;
  std::map<std::string, std::string, std::less<>> half_names_;
};

bool PrecisionHalving::is_constant(const std::string& value) const {
  return graph_.initializers.contains(value) && !inputs_.contains(value);
}

ElementType PrecisionHalving::type_of(const std::string& value) const {
  const auto constant = graph_.initializers.find(value);
  if (constant != graph_.initializers.end()) return constant->second->type;
  const auto shape = shapes_.find(value);
  return shape == shapes_.end() ? ElementType::kUndefined : shape->second.type;
}

bool PrecisionHalving::fits_half(const Constant& constant) const {
  if (constant.type != ElementType::kFloat) return true;
  const std::vector<float> numbers = to_floats(constant);
  if (numbers.size() == 1 && numbers.front() != 0 && std::abs(numbers.front()) < kHalfNormalMin) return false;
  return std::ranges::all_of(numbers, [](float number) { return !(std::abs(number) > kHalfMax); });
}

bool PrecisionHalving::becomes_half(const Node& node) const {
  if (!node.domain.empty() || !can_be_half(node.op)) return false;
  const auto is_known = [&](const std::string& value) {
    return value.empty() || type_of(value) != ElementType::kUndefined;
  };
  const auto is_float_value = [&](const std::string& value) { return is_float(value); };
  const auto fits = [&](const std::string& value) {
    return !is_constant(value) || fits_half(*graph_.initializers.find(value)->second);
  };
  return std::ranges::all_of(node.inputs, is_known) && std::ranges::all_of(node.outputs, is_known) &&
         std::ranges::any_of(node.outputs, is_float_value) && std::ranges::all_of(node.inputs, fits);
}

bool PrecisionHalving::is_wanted(const std::string& value, bool as_half) const {
  if (!as_half && index_.is_output(value)) return true;
  return std::ranges::any_of(index_.uses(value), [&](const ValueUse& use) {
    const bool takes_half = use.input && is_half_[use.node];
    return takes_half == as_half;
  });
}

const std::string& PrecisionHalving::half_name(const std::string& value) {
  const auto found = half_names_.find(value);
  if (found != half_names_.end()) return found->second;
  return half_names_.emplace(value, names_.make(value + "_half")).first->second;
}

void PrecisionHalving::add_input_casts(Graph& graph) {
  for (const ValueInfo& input : graph_.inputs) {
    if (is_float(input.name) && is_wanted(input.name, true)) {
      graph.nodes.push_back(cast(input.name, half_name(input.name), ElementType::kFloat16));
    }
  }
  for (const auto& [name, constant] : graph_.initializers) {
    if (inputs_.contains(name) || constant->type != ElementType::kFloat || !is_wanted(name, true)) continue;
    graph.initializers.insert_or_assign(half_name(name), half_constant(*constant).constant);
  }
}

void PrecisionHalving::add_node(Graph& graph, const Node& node, bool is_half) {
  Node changed = node;
  if (is_half) {
    for (auto* values : {&changed.inputs, &changed.outputs}) {
      for (std::string& value : *values) {
        if (!value.empty() && is_float(value)) value = half_name(value);
      }
    }
  }
  graph.nodes.push_back(std::move(changed));
  for (const std::string& output : node.outputs) {
    if (output.empty() || !is_float(output) || !is_wanted(output, !is_half)) continue;
    graph.nodes.push_back(is_half ? cast(half_name(output), output, ElementType::kFloat)
                                  : cast(output, half_name(output), ElementType::kFloat16));
  }
}

HalfPrecision PrecisionHalving::run() {
  HalfPrecision result = {.model = model_};
  Graph& graph = result.model.graph;
  for (const Node& node : graph_.nodes) is_half_.push_back(becomes_half(node));
  graph.nodes.clear();
  add_input_casts(graph);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    add_node(graph, node, is_half_[i]);
    const auto is_float_value = [&](const std::string& value) { return is_float(value); };
    if (is_half_[i]) {
      ++result.half_count;
    } else if (std::ranges::any_of(node.inputs, is_float_value) || std::ranges::any_of(node.outputs, is_float_value)) {
      ++result.float_count;
    }
  }
  remove_dead(graph);
  return result;
}

}  // namespace

bool can_be_half(std::string_view op) { return std::ranges::binary_search(kHalfOperators, op); }

HalfPrecision halve_precision(const Model& model, const ValueShapes& shapes) {
  return PrecisionHalving(model, shapes).run();
}

}  // namespace berth::models
