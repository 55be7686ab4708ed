/// Rewrites that are checked: a pass that breaks the model, or changes what it answers, is undone and named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"
#include "models/optimize/findings.h"
#include "models/optimize/optimize_tools.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// Rows, and what the original answers to them.
struct CheckRows {
  RowSet rows = {};
  std::vector<Tensor> outputs = {};
  std::size_t batch_rows = 1;
};

/// The largest difference that an exact pass may make, as a share of the largest output; of half precision kHalf.
inline constexpr double kExactTolerance = 1e-4;
inline constexpr double kHalfTolerance = 1e-2;

/// The largest difference of any output, as a share of that output's largest value (floats), or 1 if a value of another
/// type differs, or a value is finite in one alone. Nothing: other names, types or shapes.
[[nodiscard]] std::optional<double> largest_difference(const std::vector<Tensor>& original,
                                                       const std::vector<Tensor>& variant);

/// Whether all outputs agree as exact passes must.
[[nodiscard]] bool agrees_exactly(const std::vector<Tensor>& original, const std::vector<Tensor>& variant);

/// Loads what was written and runs it. Why it is broken, in the error with kInvalidInput; kInterrupted passes through.
/// The outputs, which have the same names, types and shapes as the original's.
[[nodiscard]] Result<std::vector<Tensor>> run_checked(const Model& model, const CheckRows& check,
                                                      const OptimizeTools& tools);

struct FusedModel {
  Model model;
  std::vector<PassRecord> passes = {};  ///< that changed something, or were undone
  bool is_changed = false;
};

/// All exact passes, each checked. Errors: kInterrupted.
[[nodiscard]] Result<FusedModel> fuse_checked(const Model& model, const CheckRows& check, const OptimizeTools& tools);

}  // namespace berth::models
