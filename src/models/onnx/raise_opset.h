/// Converts a model to a later version of the standard operators.
#pragma once

#include <cstdint>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"

namespace berth::models {

/// By libonnx's converter, also in graphs inside nodes. The model itself if its version is at least `opset`, or if it
/// uses no standard operators. Inputs, outputs and weights stay as they are; what `rest` of nodes held is gone.
/// `shapes` of the main graph: some operators, such as Softmax below version 13, cannot be converted without. Requires:
/// opset <= 17. Errors: the model has what the converter does not accept (operators of other domains, sparse tensors);
/// what the converter finds.
[[nodiscard]] Result<Model> raise_opset(const Model& model, std::int64_t opset, const ValueShapes& shapes = {});

}  // namespace berth::models
