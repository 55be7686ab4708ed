/// Rows for a model of which nothing is known but the shapes of its inputs.
#pragma once

#include <cstdint>
#include <span>

#include "base/core/result.h"
#include "base/core/rng.h"
#include "domain/values/tensor.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// At least `count` rows of random elements: floats from a bell around 0, integers 0 or 1, which are indices of
/// any table, and short texts. Inputs that all have a fixed first dimension get as many rows as that says; if they
/// differ in it, each row is a run. Errors, kInvalidInput: an input with a dimension of any size, other than its first
/// one. Requires: count > 0.
[[nodiscard]] Result<RowSet> random_rows(std::span<const TensorSignature> inputs, std::int64_t count, Rng rng);

}  // namespace berth::models
