/// Converts a model to a later version of the standard operators.
#pragma once

#include <cstdint>

#include "base/core/result.h"
#include "models/graph/graph.h"

namespace berth::models {

/// By libonnx's converter. The model itself if its version is at least `opset`. Requires: opset <= 17. Errors: the
/// model has operators of other domains, which the converter does not accept; what the converter finds.
[[nodiscard]] Result<Model> raise_opset(const Model& model, std::int64_t opset);

}  // namespace berth::models
