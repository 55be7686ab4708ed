/// Takes away what is in a graph twice, or not needed.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// Of nodes that do the same with the same inputs one is left. Not: random operators, those with graphs inside, those
/// of other domains, and those that make an output of the graph.
[[nodiscard]] Result<bool> merge_equal_nodes(Model& model, const PassContext& context);

/// Of equal initialisers one is left, by the order of their names.
[[nodiscard]] Result<bool> merge_equal_weights(Model& model, const PassContext& context);

/// remove_dead, also in the graphs inside nodes.
[[nodiscard]] Result<bool> drop_dead(Model& model, const PassContext& context);

}  // namespace berth::models
