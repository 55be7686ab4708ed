/// A file of half the size: weights in half precision, computed with in single.
#pragma once

#include <cstddef>

#include "models/graph/graph.h"

namespace berth::models {

struct HalfWeightsOptions {
  std::size_t elements_min = 256;  ///< smaller weights stay: what is added would be about as large
};

struct HalfWeights {
  Model model;
  std::size_t changed_count = 0;  ///< initialisers in half precision now
  std::size_t clipped_count = 0;  ///< of their elements, those beyond the range, which are its ends now
};

/// Initialisers of floats become float16, with a Cast to float behind each; also in the graphs inside nodes. Those stay
/// that are inputs or outputs of their graph, and those with an element that is not finite. Names of values do not
/// change: the Cast makes the value that the weight was.
[[nodiscard]] HalfWeights halve_weights(const Model& model, const HalfWeightsOptions& options);

}  // namespace berth::models
