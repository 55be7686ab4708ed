/// What a model answers to rows.
#pragma once

#include <cstddef>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "domain/values/tensor.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// All outputs, in the order of the model, each with all rows one after another. Rows are run `batch_rows` at a time,
/// or as many as the model says; then the last batch is filled up by repeating the last row. Where rows are runs, each
/// output has a first dimension more: the runs. Errors: those of running; an output that is not a tensor with one row
/// for each row, of one size. Requires: rows.count > 0, batch_rows > 0.
[[nodiscard]] Result<std::vector<Tensor>> run_rows(ProbedModel& model, const RowSet& rows, std::size_t batch_rows);

}  // namespace berth::models
