/// Arrays as rows for a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// The array with the label of each row.
inline constexpr std::string_view kLabelArray = "label";

/// The rows that `arrays` have for a model with these inputs, in the order of the inputs:
/// - each array has its input's dimensions, the first one as large as there are rows. An input whose sizes are all
/// fixed may also have one array of just that shape, and a scalar one scalar, for all rows (`shared`);
/// - or each array has one dimension more than its input, in front: the rows are runs. An array `label`, unless the
/// model has an input of that name, has an integer per row.
///
/// Errors, "NAME: why", with the array, what was wanted and what was found: a missing or unknown array; another type or
/// shape; different numbers of rows, or none; inputs that fix different numbers of rows per run; a value of a float
/// type that is no number, with its row; labels that are no integers.
[[nodiscard]] Result<RowSet> rows_for(std::span<const TensorSignature> inputs, std::vector<Tensor> arrays,
                                      std::string_view name);

/// Such as "[-1, 3]", for messages.
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace berth::models
