#include "models/fuse/detail/pattern.h"

#include <algorithm>
#include <utility>

namespace berth::models {

const Node* Pattern::maker(const std::string& value, std::string_view op) {
  const std::optional<std::size_t> node = sweep_.producer(value);
  if (!node || !is_op(sweep_.node(*node), op)) return nullptr;
  nodes_.insert(*node);
  return &sweep_.node(*node);
}

bool Pattern::is_closed() const {
  const auto is_inside = [&](const ValueUse& use) { return use.input && nodes_.contains(use.node); };
  return std::ranges::all_of(nodes_, [&](std::size_t node) {
    return node == last_ || std::ranges::all_of(sweep_.node(node).outputs, [&](const std::string& output) {
             return !sweep_.index().is_output(output) && std::ranges::all_of(sweep_.index().uses(output), is_inside);
           });
  });
}

void Pattern::replace(Sweep& sweep, Node replacement) const {
  for (const std::size_t node : nodes_) {
    if (node != last_) sweep.erase(node);
  }
  sweep.replace(last_, std::move(replacement));
}

}  // namespace berth::models
