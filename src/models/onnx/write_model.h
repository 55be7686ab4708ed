/// Writes a model as an ONNX file.
#pragma once

#include <string>

#include "base/core/result.h"
#include "models/graph/graph.h"

namespace berth::models {

/// The bytes of the file, with all weights in it; the same for equal models. Errors: more than kModelBytesMax bytes.
[[nodiscard]] Result<std::string> write_model(const Model& model);

}  // namespace berth::models
