/// Puts the rows of several requests into one batch, and takes the rows of its outputs apart again. The first dimension
/// of a batched tensor counts the rows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

/// The number of elements. Requires: no size is negative, and the product fits.
[[nodiscard]] std::size_t element_count(const Tensor& tensor);

/// One tensor per input, with the rows of all requests, in their order. Requires: at least one request; all have the
/// same inputs in the same order, of the same types and, but for the number of rows, the same shapes.
[[nodiscard]] std::vector<Tensor> join_rows(std::span<const std::vector<Tensor>* const> requests);

/// The part of each request, of which `rows` says how many rows it has. Errors: kUnavailable if an output does not have
/// as many rows as all requests together.
[[nodiscard]] Result<std::vector<std::vector<Tensor>>> split_rows(std::vector<Tensor> outputs,
                                                                  std::span<const RowCount> rows);

}  // namespace berth::serving
