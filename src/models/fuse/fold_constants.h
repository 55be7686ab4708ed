/// What depends on constants alone is computed once.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// Nodes whose inputs are all constant become initialisers: the engine computes them. Not: random operators, those with
/// graphs inside, those that make an output of the graph, those that turn quantised weights back into floats, and what
/// would make the file larger: all results together may take 64 KiB or a twentieth of the weights more than what they
/// were computed from. Nodes that the engine cannot compute stay, and so do graphs inside nodes.
[[nodiscard]] Result<bool> fold_constants(Model& model, const PassContext& context);

}  // namespace berth::models
