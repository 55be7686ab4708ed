/// Brings what is constant into one form: initialisers that are no inputs.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// Before version 4 of the file format every initialiser had to be an input too, and was constant all the same: takes
/// these inputs away and raises the version to 4. In later files an input with an initialiser is an input with a
/// default.
[[nodiscard]] Result<bool> drop_weight_inputs(Model& model, const PassContext& context);

/// Turns nodes Constant into initialisers, except where an output of the graph is one, and sparse ones.
[[nodiscard]] Result<bool> initialize_constants(Model& model, const PassContext& context);

}  // namespace berth::models
