// Random models that every engine accepts, for properties of what rewrites models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/rng.h"
#include "domain/values/tensor.h"
#include "models/graph/graph.h"

namespace berth::testing {

struct RandomModelOptions {
  std::size_t step_count_max = 12;  ///< a step is one to five nodes; at least 1
  bool has_any_batch = true;        ///< else the first dimension is 2
  std::int64_t opset = 17;          ///< 13 to 21
};

/// A model of common operators: convolutions with what follows them, matrix products, normalisation, residual sums,
/// constants in nodes and in initialisers, some of them shared or twice, chains of Reshape and Transpose, computed
/// shapes, nodes that nothing takes. Inputs "x", and in some "x2", of floats: images {batch, channels, height, width}
/// or rows {batch, columns}; the outputs, at least one, are floats of a known shape.
[[nodiscard]] models::Model random_model(Rng rng, const RandomModelOptions& options = {});

/// The inputs of such a model, `rows` each (or as many as the model has), with normally distributed elements.
[[nodiscard]] std::vector<Tensor> random_inputs(const models::Model& model, std::int64_t rows, Rng rng);

}  // namespace berth::testing
