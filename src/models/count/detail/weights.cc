#include "models/count/detail/weights.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "models/count/detail/total.h"
#include "models/graph/numbers.h"

namespace berth::models::detail {
namespace {

constexpr int kQuantisedBitsMax = 8;

/// Besides the standard ones, those of 8 bits and less: integers and small floats.
bool is_narrow(ElementType type) {
  const int bits = element_bits(type);
  return bits > 0 && bits <= kQuantisedBitsMax && type != ElementType::kBool;
}

bool is_wide_integer(ElementType type) {
  return type == ElementType::kInt16 || type == ElementType::kUint16 || type == ElementType::kInt32;
}

bool takes_quantised(const Node& node) {
  return node.domain.empty() && (node.op.starts_with("QLinear") || node.op == "DequantizeLinear" ||
                                 node.op == "QuantizeLinear" || node.op.ends_with("Integer"));
}

/// Of wider integers only those that are inputs of such a node: a bias of 32 bits, say.
std::set<std::string_view> quantised_names(const Graph& graph) {
  std::set<std::string_view> names;
  for (const Node& node : graph.nodes) {
    if (takes_quantised(node)) names.insert(node.inputs.begin(), node.inputs.end());
  }
  return names;
}

class WeightSum {
 public:
  explicit WeightSum(const Graph& graph) : quantised_(quantised_names(graph)) {}

  void add(std::string_view name, ElementType type, const Dims& dims) {
    const bool is_quantised = is_narrow(type) || (is_wide_integer(type) && quantised_.contains(name));
    if (!is_float_type(type) && !is_quantised) return;
    parameters_.add(count_of(dims));
    bytes_.add(static_cast<std::int64_t>(byte_size(type, dims)));
  }
  void add(const Node& constant) {
    if (constant.outputs.empty()) return;
    const std::string& name = constant.outputs[0];
    for (const auto& [key, value] : constant.attributes) {
      if (const auto* tensor = std::get_if<ConstantPtr>(&value)) add(name, (*tensor)->type, (*tensor)->dims);
      if (std::holds_alternative<float>(value)) add(name, ElementType::kFloat, {});
      if (const auto* list = std::get_if<std::vector<float>>(&value)) {
        add(name, ElementType::kFloat, {static_cast<std::int64_t>(list->size())});
      }
      if (std::holds_alternative<OpaqueAttribute>(value)) add_unknown();
    }
  }
  void add_unknown() {
    parameters_.add(std::nullopt);
    bytes_.add(std::nullopt);
  }
  [[nodiscard]] WeightCount count() const { return {.parameters = parameters_.sum(), .bytes = bytes_.sum()}; }

 private:
  std::set<std::string_view> quantised_;
  Total parameters_;
  Total bytes_;
};

}  // namespace

WeightCount count_weights(const Graph& graph) {
  WeightSum sum(graph);
  if (!graph.sparse.empty()) sum.add_unknown();
  for (const auto& [name, constant] : graph.initializers) sum.add(name, constant->type, constant->dims);
  for (const Node& node : graph.nodes) {
    if (is_op(node, "Constant")) sum.add(node);
  }
  return sum.count();
}

}  // namespace berth::models::detail
