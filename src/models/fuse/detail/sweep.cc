#include "models/fuse/detail/sweep.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

/// A sweep that changes something leaves less to do: a chain is done after as many sweeps as its length has bits.
constexpr int kSweepsMax = 1000;

using ScopeStep = std::function<bool(const GraphScope&)>;

bool step_into(Model& model, Graph& graph, ValueNames& names, const ValueShapes& shapes, const ScopeStep& step,
               int depth);

/// A copy of the graph with the step done; null: it changes nothing.
GraphPtr changed_inner(Model& model, const GraphPtr& inner, ValueNames& names, const ScopeStep& step, int depth) {
  Graph copy = *inner;
  const ValueShapes unknown;
  if (!step_into(model, copy, names, unknown, step, depth)) return nullptr;
  return std::make_shared<const Graph>(std::move(copy));
}

bool step_into_attribute(Model& model, AttributeValue& value, ValueNames& names, const ScopeStep& step, int depth) {
  if (auto* inner = std::get_if<GraphPtr>(&value)) {
    GraphPtr changed = changed_inner(model, *inner, names, step, depth);
    if (changed == nullptr) return false;
    *inner = std::move(changed);
    return true;
  }
  auto* several = std::get_if<std::vector<GraphPtr>>(&value);
  if (several == nullptr) return false;
  bool is_changed = false;
  for (GraphPtr& inner : *several) {
    GraphPtr changed = changed_inner(model, inner, names, step, depth);
    if (changed == nullptr) continue;
    inner = std::move(changed);
    is_changed = true;
  }
  return is_changed;
}

bool step_into(Model& model, Graph& graph, ValueNames& names, const ValueShapes& shapes, const ScopeStep& step,
               int depth) {
  bool is_changed = false;
  if (depth < kGraphDepthMax) {
    for (Node& node : graph.nodes) {
      for (auto& [name, value] : node.attributes) {
        is_changed |= step_into_attribute(model, value, names, step, depth + 1);
      }
    }
  }
  const GraphScope scope = {.graph = graph, .names = names, .shapes = shapes, .opset = model.opset()};
  return step(scope) || is_changed;
}

/// Null: there is none, or it is the default of an input, in whose place the caller may put a tensor of another shape.
const Constant* initializer(const Graph& graph, std::string_view value) {
  const auto found = graph.initializers.find(value);
  if (found == graph.initializers.end() ||
      std::ranges::find(graph.inputs, value, &ValueInfo::name) != graph.inputs.end())
    return nullptr;
  return found->second.get();
}

bool sweep_graph(const GraphScope& scope, SweepStep step) {
  bool is_changed = false;
  for (int i = 0; i < kSweepsMax; ++i) {
    Sweep sweep(scope);
    bool is_swept = false;
    for (std::size_t node = 0; node < sweep.node_count(); ++node) {
      if (sweep.is_free(node) && step(sweep, node)) is_swept = true;
    }
    if (!is_swept) break;
    sweep.finish();
    is_changed = true;
  }
  return is_changed;
}

}  // namespace

Sweep::Sweep(const GraphScope& scope)
    : scope_(scope), index_(scope.graph), touched_(scope.graph.nodes.size()), erased_(scope.graph.nodes.size()) {}

std::optional<std::size_t> Sweep::producer(std::string_view value) const {
  const std::optional<std::size_t> maker = index_.maker(value);
  return maker && is_free(*maker) ? maker : std::nullopt;
}

std::optional<std::size_t> Sweep::sole_producer(std::string_view value) const {
  return index_.only_use(value) ? producer(value) : std::nullopt;
}

bool Sweep::is_unused(std::string_view value) const {
  return value.empty() || (index_.uses(value).empty() && !index_.is_output(value));
}

const Constant* Sweep::constant(const Node& node, std::size_t input) const {
  const std::optional<ConstantPtr> found = constant_input(scope_.graph, index_, node, input);
  return found ? found->get() : nullptr;
}

std::optional<std::vector<std::int64_t>> Sweep::dims(std::string_view value) const {
  if (const Constant* constant = initializer(scope_.graph, value)) return constant->dims;
  const auto shape = scope_.shapes.find(value);
  return shape == scope_.shapes.end() ? std::nullopt : shape->second.dims;
}

ElementType Sweep::type(std::string_view value) const {
  if (const Constant* constant = initializer(scope_.graph, value)) return constant->type;
  const auto shape = scope_.shapes.find(value);
  return shape == scope_.shapes.end() ? ElementType::kUndefined : shape->second.type;
}

void Sweep::replace(std::size_t node, Node replacement) {
  touch_around(scope_.graph.nodes[node]);
  touch_around(replacement);
  touched_[node] = true;
  scope_.graph.nodes[node] = std::move(replacement);
}

void Sweep::erase(std::size_t node) {
  touch_around(scope_.graph.nodes[node]);
  touched_[node] = true;
  erased_[node] = true;
}

bool Sweep::bypass(std::size_t node, std::string_view input) {
  // The name may be that of the node's input, which changes below.
  const std::string value(input);
  const std::string output = scope_.graph.nodes[node].outputs.front();
  if (!index_.is_output(output)) {
    if (!replace_uses(scope_.graph, output, value)) return false;
    erase(node);
    for (const ValueUse& use : index_.uses(value)) touched_[use.node] = true;
    return true;
  }
  const std::optional<std::size_t> maker = producer(value);
  if (!maker || index_.is_output(value)) return false;
  if (!replace_uses(scope_.graph, value, output)) return false;
  std::ranges::replace(scope_.graph.nodes[*maker].outputs, value, output);
  erase(node);
  touched_[*maker] = true;
  for (const ValueUse& use : index_.uses(value)) touched_[use.node] = true;
  return true;
}

std::string Sweep::add_constant(std::string_view wanted, ConstantPtr constant) {
  std::string name = scope_.names.make(wanted);
  scope_.graph.initializers.insert_or_assign(name, std::move(constant));
  return name;
}

std::string Sweep::change_constant(const std::string& name, ConstantPtr constant) {
  if (!scope_.graph.initializers.contains(name) || !index_.only_use(name)) return add_constant(name, constant);
  scope_.graph.initializers.insert_or_assign(name, std::move(constant));
  return name;
}

void Sweep::set_constant(const std::string& name, ConstantPtr constant) {
  scope_.graph.initializers.insert_or_assign(name, std::move(constant));
}

void Sweep::finish() {
  std::vector<Node>& nodes = scope_.graph.nodes;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (erased_[i]) continue;
    if (kept != i) nodes[kept] = std::move(nodes[i]);
    ++kept;
  }
  nodes.resize(kept);
  remove_dead(scope_.graph);
}

/// What an edit of the node changes is who makes and who uses its inputs and outputs.
void Sweep::touch_around(const Node& node) {
  for (const std::string& input : node.inputs) {
    if (const std::optional<std::size_t> maker = index_.maker(input)) touched_[*maker] = true;
  }
  for (const std::string& output : node.outputs) {
    if (const std::optional<std::size_t> maker = index_.maker(output)) touched_[*maker] = true;
    for (const ValueUse& use : index_.uses(output)) touched_[use.node] = true;
  }
}

bool each_graph(Model& model, const ValueShapes& shapes, GraphStep step) {
  ValueNames names(model.graph);
  return step_into(model, model.graph, names, shapes, step, 0);
}

bool sweep_model(Model& model, const ValueShapes& shapes, SweepStep step) {
  ValueNames names(model.graph);
  return step_into(model, model.graph, names, shapes, [step](const GraphScope& s) { return sweep_graph(s, step); }, 0);
}

}  // namespace berth::models
