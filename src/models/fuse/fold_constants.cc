#include "models/fuse/fold_constants.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/fuse/detail/operators.h"
#include "models/fuse/detail/sweep.h"
#include "models/graph/graph_edit.h"
#include "models/graph/graph_index.h"

namespace berth::models {
namespace {

constexpr std::size_t kGrowthMin = std::size_t{64} << 10;
constexpr std::size_t kGrowthShare = 20;  // of the weights: one in so many bytes

/// Quantised weights are there to be small; results of the others are no tensors.
constexpr std::array<std::string_view, 11> kNotFolded = {
    "ConcatFromSequence", "DequantizeLinear",   "DynamicQuantizeLinear", "Optional",
    "OptionalGetElement", "OptionalHasElement", "QuantizeLinear",        "SequenceConstruct",
    "SequenceEmpty",      "SplitToSequence",    "SequenceInsert",
};

using Names = std::set<std::string, std::less<>>;
using Constants = std::map<std::string, ConstantPtr, std::less<>>;

std::size_t bytes_in(const Constant& constant) {
  std::size_t bytes = constant.bytes.size();
  for (const std::string& text : constant.texts) bytes += text.size();
  return bytes;
}

/// The weights that a graph and those inside its nodes see: `around`, and its own. A default of an input is none.
Constants seen_constants(const Constants& around, const Graph& graph) {
  Constants seen = around;
  for (const auto& [name, constant] : graph.initializers) seen.insert_or_assign(name, constant);
  for (const ValueInfo& input : graph.inputs) seen.erase(input.name);
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) seen.erase(output);
  }
  return seen;
}

/// The nodes of a graph that can be computed, and what they give.
class ConstantPart {
 public:
  /// `around`: the weights of the graphs that this one is in.
  ConstantPart(const Model& model, const Graph& graph, const ValueShapes& shapes, const Constants& around)
      : model_(model),
        graph_(graph),
        shapes_(shapes),
        known_(seen_constants(around, graph)),
        index_(graph),
        refused_(graph.nodes.size(), false) {
    for (const auto& [name, constant] : graph.initializers) weight_bytes_ += bytes_in(*constant);
  }

  /// Values by name that may be initialisers instead.
  [[nodiscard]] Result<std::map<std::string, ConstantPtr>> compute(const Evaluate& evaluate);
  /// Whether the node is not needed any more.
  [[nodiscard]] bool is_folded(std::size_t node) const { return folded_[node]; }

 private:
  void find_folded();
  [[nodiscard]] bool can_fold(const Node& node) const;
  [[nodiscard]] bool is_used_outside(const std::string& value) const;
  [[nodiscard]] std::vector<std::string> results() const;
  [[nodiscard]] Model part_for(const std::vector<std::string>& results) const;
  [[nodiscard]] bool refuse_large(const std::map<std::string, std::size_t>& bytes);
  [[nodiscard]] std::map<std::string, std::size_t> known_bytes(const std::vector<std::string>& results) const;

  const Model& model_;
  const Graph& graph_;
  const ValueShapes& shapes_;
  Constants known_;
  GraphIndex index_;
  std::vector<bool> refused_;
  std::vector<bool> folded_;
  Names constant_;
  std::size_t weight_bytes_ = 0;
};

bool ConstantPart::can_fold(const Node& node) const {
  if (!is_deterministic(node) || std::ranges::find(kNotFolded, std::string_view(node.op)) != kNotFolded.end()) {
    return false;
  }
  const auto is_constant = [&](const std::string& input) { return input.empty() || constant_.contains(input); };
  const auto is_output = [&](const std::string& output) { return index_.is_output(output); };
  return std::ranges::all_of(node.inputs, is_constant) && std::ranges::none_of(node.outputs, is_output);
}

void ConstantPart::find_folded() {
  constant_.clear();
  for (const auto& [name, constant] : known_) constant_.insert(name);
  folded_.assign(graph_.nodes.size(), false);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    folded_[i] = !refused_[i] && can_fold(node);
    if (folded_[i]) constant_.insert(node.outputs.begin(), node.outputs.end());
  }
}

bool ConstantPart::is_used_outside(const std::string& value) const {
  return std::ranges::any_of(index_.uses(value), [&](const ValueUse& use) { return !folded_[use.node]; });
}

std::vector<std::string> ConstantPart::results() const {
  std::vector<std::string> results;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (!folded_[i]) continue;
    for (const std::string& output : graph_.nodes[i].outputs) {
      if (!output.empty() && is_used_outside(output)) results.push_back(output);
    }
  }
  return results;
}

/// The model that computes `results`: no inputs.
Model ConstantPart::part_for(const std::vector<std::string>& results) const {
  Model part = {.ir_version = model_.ir_version, .opsets = model_.opsets, .rest = model_.rest};
  part.graph.name = "constants";
  for (const std::string& result : results) {
    const auto shape = shapes_.find(result);
    const ElementType type = shape == shapes_.end() ? ElementType::kUndefined : shape->second.type;
    part.graph.outputs.push_back({.name = result, .type = type});
  }
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (folded_[i]) part.graph.nodes.push_back(graph_.nodes[i]);
  }
  for (const Node& node : part.graph.nodes) {
    for (const std::string& input : node.inputs) {
      const auto constant = known_.find(input);
      if (constant != known_.end()) part.graph.initializers.insert(*constant);
    }
  }
  remove_dead(part.graph);
  return part;
}

std::map<std::string, std::size_t> ConstantPart::known_bytes(const std::vector<std::string>& results) const {
  std::map<std::string, std::size_t> bytes;
  for (const std::string& result : results) {
    const auto shape = shapes_.find(result);
    if (shape == shapes_.end() || !shape->second.dims) continue;
    if (std::ranges::any_of(*shape->second.dims, [](std::int64_t dim) { return dim < 0; })) continue;
    const auto bits = static_cast<std::size_t>(element_bits(shape->second.type));
    bytes[result] = static_cast<std::size_t>(count_of(*shape->second.dims)) * bits / 8;
  }
  return bytes;
}

/// In the order of the nodes, those are refused that would take more than is left. Whether any was.
bool ConstantPart::refuse_large(const std::map<std::string, std::size_t>& bytes) {
  std::size_t left = std::max(kGrowthMin, weight_bytes_ / kGrowthShare);
  std::size_t all = 0;
  for (const auto& [name, some] : bytes) all += some;
  if (all <= left) return false;
  bool is_any = false;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (!folded_[i]) continue;
    std::size_t after = 0;
    std::vector<std::string> outputs;
    for (const std::string& output : graph_.nodes[i].outputs) {
      const auto found = bytes.find(output);
      if (found == bytes.end()) continue;
      after += found->second;
      outputs.push_back(output);
    }
    if (outputs.empty()) continue;
    std::size_t before = 0;
    for (const auto& [name, constant] : part_for(outputs).graph.initializers) {
      // What is around may be needed by other graphs, too.
      if (graph_.initializers.contains(name)) before += bytes_in(*constant);
    }
    const std::size_t growth = after > before ? after - before : 0;
    refused_[i] = growth > left;
    is_any |= refused_[i];
    if (!refused_[i]) left -= growth;
  }
  return is_any;
}

/// Of all at once, or else of each alone; what cannot be computed is missing. Errors: an interrupt.
Result<std::map<std::string, ConstantPtr>> evaluated(
    const Evaluate& evaluate, const std::vector<std::string>& results,
    const std::function<Model(const std::vector<std::string>&)>& part) {
  std::map<std::string, ConstantPtr> values;
  Result<std::vector<ConstantPtr>> all = evaluate(part(results));
  if (all && all->size() == results.size()) {
    for (std::size_t i = 0; i < results.size(); ++i) values[results[i]] = std::move((*all)[i]);
    return values;
  }
  if (!all && all.error().code == ErrorCode::kInterrupted) return pass_on(all.error());
  if (results.size() == 1) return values;
  for (const std::string& result : results) {
    Result<std::vector<ConstantPtr>> one = evaluate(part({result}));
    if (!one && one.error().code == ErrorCode::kInterrupted) return pass_on(one.error());
    if (one && one->size() == 1) values[result] = std::move(one->front());
  }
  return values;
}

Result<std::map<std::string, ConstantPtr>> ConstantPart::compute(const Evaluate& evaluate) {
  std::map<std::string, ConstantPtr> values;
  // Each round without an end refuses a node.
  for (std::size_t round = 0; round <= 2 * graph_.nodes.size(); ++round) {
    find_folded();
    const std::vector<std::string> wanted = results();
    if (wanted.empty()) break;
    if (refuse_large(known_bytes(wanted))) continue;
    std::vector<std::string> missing;
    std::ranges::copy_if(wanted, std::back_inserter(missing),
                         [&](const std::string& value) { return !values.contains(value); });
    if (!missing.empty()) {
      auto found = evaluated(evaluate, missing, [this](const auto& some) { return part_for(some); });
      if (!found) return pass_on(found.error());
      values.merge(*found);
    }
    bool is_any_refused = false;
    std::map<std::string, std::size_t> bytes;
    std::map<std::string, ConstantPtr> kept;
    for (const std::string& value : wanted) {
      const auto found = values.find(value);
      if (found == values.end()) {
        refused_[index_.maker(value).value()] = true;
        is_any_refused = true;
        continue;
      }
      bytes[value] = bytes_in(*found->second);
      kept.insert(*found);
    }
    if (is_any_refused || refuse_large(bytes)) continue;
    return kept;
  }
  find_folded();
  return std::map<std::string, ConstantPtr>();
}

Result<bool> fold_nodes(const Model& model, Graph& graph, const PassContext& context, const ValueShapes& shapes,
                        const Constants& around) {
  ConstantPart part(model, graph, shapes, around);
  Result<std::map<std::string, ConstantPtr>> values = part.compute(context.evaluate);
  if (!values) return pass_on(values.error());
  if (values->empty()) return false;
  std::vector<Node> kept;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!part.is_folded(i)) kept.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(kept);
  for (auto& [name, constant] : *values) graph.initializers.insert_or_assign(name, std::move(constant));
  remove_dead(graph);
  return true;
}

/// Each graph of a model, the outer ones first: what they compute is constant for those inside.
class FoldedGraphs {
 public:
  FoldedGraphs(const Model& model, const PassContext& context) : model_(model), context_(context) {}

  Result<bool> fold(Graph& graph, const Constants& around, int depth) {
    const ValueShapes unknown;
    const Result<bool> folded = fold_nodes(model_, graph, context_, depth == 0 ? context_.shapes : unknown, around);
    if (!folded || depth == kGraphDepthMax) return folded;
    bool is_changed = *folded;
    const Constants seen = seen_constants(around, graph);
    for (Node& node : graph.nodes) {
      for (auto& [name, value] : node.attributes) {
        const Result<bool> inner = fold_attribute(value, seen, depth + 1);
        if (!inner) return inner;
        is_changed |= *inner;
      }
    }
    // Weights that only inner graphs took.
    if (is_changed) remove_dead(graph);
    return is_changed;
  }

 private:
  Result<bool> fold_attribute(AttributeValue& value, const Constants& around, int depth) {
    if (auto* inner = std::get_if<GraphPtr>(&value)) return fold_inner(*inner, around, depth);
    auto* several = std::get_if<std::vector<GraphPtr>>(&value);
    if (several == nullptr) return false;
    bool is_changed = false;
    for (GraphPtr& inner : *several) {
      const Result<bool> folded = fold_inner(inner, around, depth);
      if (!folded) return folded;
      is_changed |= *folded;
    }
    return is_changed;
  }

  Result<bool> fold_inner(GraphPtr& inner, const Constants& around, int depth) {
    Graph copy = *inner;
    const Result<bool> folded = fold(copy, around, depth);
    if (folded && *folded) inner = std::make_shared<const Graph>(std::move(copy));
    return folded;
  }

  const Model& model_;
  const PassContext& context_;
};

}  // namespace

Result<bool> fold_constants(Model& model, const PassContext& context) {
  Model changed = model;
  const Result<bool> is_changed = FoldedGraphs(model, context).fold(changed.graph, {}, 0);
  if (is_changed && *is_changed) model = std::move(changed);
  return is_changed;
}

}  // namespace berth::models
