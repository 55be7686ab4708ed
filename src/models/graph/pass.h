/// One rewrite of a model.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"

namespace berth::models {

/// Computes the outputs of a model without inputs: by the engine.
using Evaluate = std::function<Result<std::vector<ConstantPtr>>(const Model& model)>;

/// What a pass may ask. Shapes are of the values of the model before the first pass; names that passes made up are
/// missing.
struct PassContext {
  const ValueShapes& shapes;
  const Evaluate& evaluate;
};

/// A pass that gives the same outputs, but for rounding. It may be applied again until it changes nothing.
struct Pass {
  std::string_view name;  ///< such as "fold-constants"
  /// Whether anything changed. Errors: those of `evaluate`; the model is then unchanged.
  Result<bool> (*apply)(Model& model, const PassContext& context);
};

}  // namespace berth::models
