/// A made-up model as an ONNX file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/rng.h"

namespace berth::models {

/// y = a perceptron of x, floats, any number of rows: layers of these widths, the first of x, the last of y, with ReLU
/// between them. Weights are drawn. Requires: at least two widths, all above 0.
[[nodiscard]] std::string perceptron(const std::vector<std::int64_t>& widths, Rng rng);

}  // namespace berth::models
