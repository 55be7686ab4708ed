#include "models/int8/int8_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "models/graph/graph_index.h"
#include "models/int8/detail/heavy_node.h"

namespace berth::models {
namespace {

/// Give the values that they take, in other places: their output has the range of their first input.
constexpr std::array kMoving = {"Flatten", "MaxPool", "Reshape",   "Resize",   "Slice",
                                "Split",   "Squeeze", "Transpose", "Unsqueeze"};
/// Compute new values; all their inputs are activations.
constexpr std::array kComputing = {"Add", "AveragePool", "Concat", "GlobalAveragePool", "LeakyRelu", "Mul", "Sigmoid"};
/// Engines join these to a Gemm in float before they look at rounding, which leaves it half quantised.
constexpr std::array kJoinedToGemm = {"Clip",    "Elu",      "HardSigmoid", "LeakyRelu", "Relu",
                                      "Sigmoid", "Softplus", "Softsign",    "Tanh",      "ThresholdedRelu"};

bool is_one_of(const Node& node, auto&& ops) {
  return std::ranges::any_of(ops, [&](std::string_view op) { return is_op(node, op); });
}

bool is_moving(const Node& node) {
  if (!is_one_of(node, kMoving)) return false;
  if (is_op(node, "Resize")) return attribute_or(node, "mode", std::string("nearest")) == "nearest";
  // The indices of MaxPool are no values.
  return !is_op(node, "MaxPool") || node.outputs.size() == 1;
}

bool is_computing(const Node& node) { return is_one_of(node, kComputing); }

class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const ValueShapes& shapes, const std::set<std::string, std::less<>>& float_nodes)
      : graph_(graph), shapes_(shapes), float_nodes_(float_nodes), index_(graph) {}

  Int8Plan build() {
    find_heavy();
    for (const std::size_t node : plan_.heavy) need(graph_.nodes[node].inputs.front());
    for (const std::size_t node : plan_.heavy) need_output(graph_.nodes[node]);
    for (auto& [value, quantized] : plan_.values) choose_source(value, quantized);
    return std::move(plan_);
  }

 private:
  void find_heavy() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!is_heavy_kind(node) || is_float_wanted(node)) continue;
      const Result<HeavyNode> heavy = heavy_node(graph_, index_, node);
      if (!heavy) {
        plan_.left.emplace(node.outputs.front(), heavy.error().message);
      } else if (!is_float(node.inputs.front())) {
        plan_.left.emplace(node.outputs.front(), "its input is not known to be float");
      } else {
        plan_.heavy.insert(i);
        heavy_inputs_.insert(node.inputs.front());
      }
    }
  }

  [[nodiscard]] bool is_float_wanted(const Node& node) const {
    return !node.outputs.empty() && float_nodes_.contains(node.outputs.front());
  }

  [[nodiscard]] bool is_float(const std::string& value) const {
    const auto found = shapes_.find(value);
    return found != shapes_.end() && found->second.type == ElementType::kFloat;
  }

  [[nodiscard]] bool is_constant(const Node& node, std::size_t input) const {
    return graph_.initializers.contains(node.inputs[input]) || constant_input(graph_, index_, node, input).has_value();
  }

  /// Whether rounding the value costs nothing that is not needed anyway: a heavy node makes or takes it, or a node that
  /// can be carried makes it of such values.
  [[nodiscard]] bool is_free(const std::string& value) {
    const auto known = free_.find(value);
    if (known != free_.end()) return known->second;
    const bool is_it = heavy_inputs_.contains(value) || is_made_free(value);
    free_.emplace(value, is_it);
    return is_it;
  }

  [[nodiscard]] bool is_made_free(const std::string& value) {
    const std::optional<std::size_t> maker = index_.maker(value);
    if (!maker) return false;
    const Node& node = graph_.nodes[*maker];
    if (plan_.heavy.contains(*maker)) return true;
    if (is_absorbable(node)) {
      const std::optional<std::size_t> source = index_.maker(node.inputs.front());
      if (!source || !index_.only_use(node.inputs.front())) return false;
      const Node& before = graph_.nodes[*source];
      return plan_.heavy.contains(*source) || (is_computing(before) && can_be_carried(before));
    }
    return can_be_carried(node);
  }

  [[nodiscard]] bool can_be_carried(const Node& node) {
    if ((!is_moving(node) && !is_computing(node)) || is_float_wanted(node)) return false;
    for (std::size_t i = 0; i < activation_count(node); ++i) {
      if (!is_float(node.inputs[i]) || is_constant(node, i) || !is_free(node.inputs[i])) return false;
    }
    return true;
  }

  /// Relu, and Clip where rounding to a range that contains 0 does the same.
  [[nodiscard]] bool is_absorbable(const Node& node) const {
    if (is_float_wanted(node)) return false;
    if (is_op(node, "Relu")) return true;
    if (!is_op(node, "Clip") || node.inputs.size() != 3) return false;
    const auto limit = [&](std::size_t input) -> std::optional<float> {
      const std::optional<ConstantPtr> constant = constant_input(graph_, index_, node, input);
      if (!constant || (*constant)->type != ElementType::kFloat || count_of((*constant)->dims) != 1)
        return std::nullopt;
      return to_floats(**constant).front();
    };
    const std::optional<float> low = limit(1);
    const std::optional<float> high = limit(2);
    return low && high && *low <= 0 && *high >= 0;
  }

  void need(const std::string& value) {
    if (plan_.values.contains(value)) return;
    plan_.values.emplace(value, QuantizedValue{.source = value, .range_value = value});
    const std::optional<std::size_t> maker = index_.maker(value);
    if (!maker) return;
    const Node& node = graph_.nodes[*maker];
    if (is_absorbable(node) && is_made_free(value)) need_carrier(node.inputs.front());
    if (!plan_.heavy.contains(*maker) && can_be_carried(node)) carry(*maker);
  }

  /// The node before an absorbed Relu is carried too, without rounding in between.
  void need_carrier(const std::string& value) {
    const std::size_t maker = *index_.maker(value);
    if (!plan_.heavy.contains(maker)) carry(maker);
  }

  void carry(std::size_t node_index) {
    if (!plan_.carried.insert(node_index).second) return;
    const Node& node = graph_.nodes[node_index];
    for (std::size_t i = 0; i < activation_count(node); ++i) need(node.inputs[i]);
    // Every output of a Split is rounded alike: else it would be left between integers and float.
    if (node.outputs.size() > 1) {
      for (const std::string& output : node.outputs) {
        if (!output.empty()) need(output);
      }
    }
  }

  void need_output(const Node& node) {
    const std::string& output = node.outputs.front();
    const std::optional<ValueUse> use = index_.only_use(output);
    const Node* next = use && use->input ? &graph_.nodes[use->node] : nullptr;
    if (!is_op(node, "Conv") && !(is_op(node, "Gemm") && next != nullptr && is_one_of(*next, kJoinedToGemm))) return;
    const bool is_joined = next != nullptr && use->input == 0 && is_absorbable(*next);
    need(is_joined ? next->outputs.front() : output);
  }

  void choose_source(const std::string& value, QuantizedValue& quantized) {
    quantized.range_value = range_value_of(value);
    const std::optional<std::size_t> maker = index_.maker(value);
    if (!maker) return;
    if (is_integer(*maker)) {
      quantized.replaces = true;
      return;
    }
    const Node& node = graph_.nodes[*maker];
    if (!is_absorbable(node)) return;
    const std::string& before = node.inputs.front();
    const std::optional<std::size_t> source = index_.maker(before);
    const bool is_joined = source && is_integer(*source) && index_.only_use(before) && !plan_.values.contains(before);
    if (!is_joined && !are_uses_integer(value)) return;
    quantized.source = before;
    quantized.replaces = true;
    plan_.absorbed.insert(*maker);
  }

  [[nodiscard]] bool is_integer(std::size_t node) const {
    return plan_.heavy.contains(node) || plan_.carried.contains(node);
  }

  [[nodiscard]] bool are_uses_integer(const std::string& value) const {
    return !index_.is_output(value) && std::ranges::all_of(index_.uses(value), [&](const ValueUse& use) {
      return use.input && is_integer(use.node) && *use.input < activation_count(graph_.nodes[use.node]);
    });
  }

  [[nodiscard]] std::string range_value_of(std::string value) const {
    while (true) {
      const std::optional<std::size_t> maker = index_.maker(value);
      if (!maker || !plan_.carried.contains(*maker) || !is_moving(graph_.nodes[*maker])) return value;
      value = graph_.nodes[*maker].inputs.front();
    }
  }

  const Graph& graph_;
  const ValueShapes& shapes_;
  const std::set<std::string, std::less<>>& float_nodes_;
  GraphIndex index_;
  Int8Plan plan_;
  std::set<std::string, std::less<>> heavy_inputs_;
  std::map<std::string, bool, std::less<>> free_;
};

}  // namespace

std::vector<std::string> Int8Plan::range_values() const {
  std::set<std::string> names;
  for (const auto& [value, quantized] : values) names.insert(quantized.range_value);
  return {names.begin(), names.end()};
}

// The others are weights, shapes and the like.
std::size_t activation_count(const Node& node) { return is_computing(node) ? node.inputs.size() : 1; }

Int8Plan int8_plan(const Graph& graph, const ValueShapes& shapes,
                   const std::set<std::string, std::less<>>& float_nodes) {
  return PlanBuilder(graph, shapes, float_nodes).build();
}

}  // namespace berth::models
