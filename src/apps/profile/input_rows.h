/// The rows that a model is measured with.
#pragma once

#include <span>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/values/tensor.h"
#include "models/profiling/profile_request.h"
#include "models/rows/row_set.h"

namespace berth::profiler {

struct InputRows {
  models::RowSet rows = {};
  int fixed_batch = 0;            ///< of a model with a fixed first dimension; 0: any
  std::vector<int> batches = {};  ///< that are measured
};

/// Of the request's file, or random ones, which its seed decides. Errors, kInvalidInput: those of reading the file; it
/// does not fit the inputs; without one, a size that is not known.
[[nodiscard]] Result<InputRows> find_input_rows(const FileTree& tree, const models::ProfileRequest& request,
                                                std::span<const TensorSignature> inputs);

}  // namespace berth::profiler
