/// Checks that a rewritten model is a correct ONNX model, as far as can be said without running it.
#pragma once

#include "base/core/result.h"
#include "models/graph/graph.h"

namespace berth::models {

/// Errors: those of `check_names`; what libonnx's checker finds, where it knows the version of the operators (up to
/// 17). It refuses files of later versions of the format, so that it is given a copy that says version 8, without
/// weights.
[[nodiscard]] Result<void> check_model(const Model& model);

}  // namespace berth::models
