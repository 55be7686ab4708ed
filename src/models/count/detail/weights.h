/// The weights of a graph.
#pragma once

#include <cstdint>
#include <optional>

#include "models/graph/graph.h"

namespace berth::models::detail {

struct WeightCount {
  std::optional<std::int64_t> parameters = {};
  std::optional<std::int64_t> bytes = {};
};

/// Of initialisers and nodes Constant, each once. Nothing: there are sparse ones.
[[nodiscard]] WeightCount count_weights(const Graph& graph);

}  // namespace berth::models::detail
