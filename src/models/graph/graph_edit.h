/// What several passes do with a graph.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "models/graph/graph.h"

namespace berth::models {

/// Every name of a value in the graph and in the graphs of its nodes. New names are made with it.
class ValueNames {
 public:
  explicit ValueNames(const Graph& graph);

  /// `wanted`, or else with "_1", "_2", ... after it: the first that is free. It is taken from then on.
  [[nodiscard]] std::string make(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

/// Lets all that take `from` take `to` instead, also inside the graphs of nodes where no inner value has that name. The
/// outputs of the graph keep their names. False, and nothing is changed, if an inner value is named `to`.
[[nodiscard]] bool replace_uses(Graph& graph, std::string_view from, std::string_view to);

/// Removes nodes none of whose outputs is used, initialisers that are not used and are no inputs, and what is said of
/// values that are gone. Keeps the order. Nodes with several outputs keep those that are not used.
void remove_dead(Graph& graph);

/// Sorts the nodes so that each comes after those whose outputs it takes; of several that may come next, the first in
/// the present order. False, and nothing is changed, if there is a circle.
[[nodiscard]] bool sort_nodes(Graph& graph);

/// Errors, naming the value: used and made nowhere, made twice, used before it is made; an output that nothing makes.
[[nodiscard]] Result<void> check_names(const Graph& graph);

}  // namespace berth::models
