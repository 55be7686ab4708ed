/// A model as it is for one row.
#pragma once

#include <cstdint>

#include "models/count/count_model.h"
#include "models/graph/graph.h"

namespace berth::models {

/// How many rows a run of the model takes, where that is fixed: the common first dimension of its inputs, or 1 if they
/// have different ones. 0: any number, because an input's first dimension is free. Inputs with an initialiser and
/// scalars do not count.
[[nodiscard]] std::int64_t fixed_rows_of(const Model& model);

/// The model whose shapes are to be inferred: where the first dimension of inputs is free, it is 1, and so are all
/// sizes of the same name. A fixed one stays: what is counted for it is divided (`per_row`).
[[nodiscard]] Model for_one_row(const Model& model);

/// Operations and activations of a run of `rows` rows as those of one row, rounded to the nearest number. Requires:
/// rows > 0.
[[nodiscard]] ModelCount per_row(ModelCount count, std::int64_t rows);

}  // namespace berth::models
