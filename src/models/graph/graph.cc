#include "models/graph/graph.h"

namespace berth::models {
namespace {

template <class T>
T attribute_value_or(const Node& node, std::string_view name, const T& fallback) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return fallback;
  const T* const value = std::get_if<T>(&found->second);
  return value == nullptr ? fallback : *value;
}

}  // namespace

std::int64_t Model::opset() const {
  const auto found = opsets.find("");
  return found == opsets.end() ? 0 : found->second;
}

bool is_op(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

std::int64_t attribute_or(const Node& node, std::string_view name, std::int64_t fallback) {
  return attribute_value_or(node, name, fallback);
}
float attribute_or(const Node& node, std::string_view name, float fallback) {
  return attribute_value_or(node, name, fallback);
}
std::string attribute_or(const Node& node, std::string_view name, const std::string& fallback) {
  return attribute_value_or(node, name, fallback);
}
std::vector<std::int64_t> attribute_or(const Node& node, std::string_view name,
                                       const std::vector<std::int64_t>& fallback) {
  return attribute_value_or(node, name, fallback);
}

std::vector<GraphPtr> graphs_in(const Node& node) {
  std::vector<GraphPtr> graphs;
  for (const auto& [name, value] : node.attributes) {
    if (const auto* const graph = std::get_if<GraphPtr>(&value)) graphs.push_back(*graph);
    if (const auto* const several = std::get_if<std::vector<GraphPtr>>(&value)) {
      graphs.insert(graphs.end(), several->begin(), several->end());
    }
  }
  return graphs;
}

}  // namespace berth::models
