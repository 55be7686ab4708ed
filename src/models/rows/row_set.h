/// Inputs for a model, row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/values/tensor.h"

namespace berth::models {

/// Each input has `count` rows: its first dimension. Inputs that have no rows (a scalar, say) are in `shared` and go
/// with every batch as they are.
///
/// Where a model's inputs have no common first dimension for rows (a state whose second one it is, say), each row may
/// be the inputs of a whole run: `rows_are_runs`. The first dimension is then not one of the model's.
struct RowSet {
  std::vector<Tensor> inputs = {};
  std::vector<Tensor> shared = {};
  std::size_t count = 0;
  std::vector<std::int64_t> labels = {};  ///< one per row, or none
  bool rows_are_runs = false;

  friend bool operator==(const RowSet&, const RowSet&) = default;
};

/// How many rows a run takes, where that is fixed: the first dimension of the model's inputs, or 1 if rows are runs.
/// Requires: `rows` fits the model (rows_for.h).
[[nodiscard]] std::optional<std::size_t> fixed_rows(std::span<const TensorSignature> inputs, const RowSet& rows);

/// The inputs of a run: rows `first` to `first + size`, in the order inputs, shared. Rows past the end repeat the last
/// one. Requires: count > 0; size 1 if rows are runs.
[[nodiscard]] std::vector<Tensor> batch_of(const RowSet& rows, std::size_t first, std::size_t size);

/// The rows with these indices, in that order. Requires: each below count.
[[nodiscard]] RowSet select_rows(const RowSet& rows, std::span<const std::size_t> indices);

}  // namespace berth::models
