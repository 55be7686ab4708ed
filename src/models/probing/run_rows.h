/// What a model answers to rows.
#pragma once

#include <cstddef>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "domain/values/tensor.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// All outputs, in the order of the model, each with all rows one after another. Rows are run `batch_rows` at a time;
/// the last batch is filled up by repeating the last row, where the model has a fixed number of rows. Errors: those of
/// running; an output without one row per row.
[[nodiscard]] Result<std::vector<Tensor>> run_rows(ProbedModel& model, const RowSet& rows, std::size_t batch_rows);

}  // namespace berth::models
