/// What depends on constants alone is computed once.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// Nodes whose inputs are all constant become initialisers: the engine computes them. Also in graphs inside nodes,
/// where the weights of the graphs around them are constant, too. Not: random operators, nodes with graphs inside,
/// those that make an output of their graph, those that turn quantised weights back into floats, and what would make
/// the file larger: all results of a graph together may take 64 KiB or a twentieth of its weights more than the ones of
/// its own that they were computed from. Nodes that the engine cannot compute stay.
[[nodiscard]] Result<bool> fold_constants(Model& model, const PassContext& context);

}  // namespace berth::models
