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
struct RowSet {
  std::vector<Tensor> inputs = {};
  std::vector<Tensor> shared = {};
  std::size_t count = 0;
  std::vector<std::int64_t> labels = {};  ///< one per row, or none

  friend bool operator==(const RowSet&, const RowSet&) = default;
};

/// Rows `first` to `first + size`, in the order inputs, shared. Rows past the end repeat the last one. Requires: count
/// > 0.
[[nodiscard]] std::vector<Tensor> batch_of(const RowSet& rows, std::size_t first, std::size_t size);

/// The rows with these indices, in that order. Requires: each below count.
[[nodiscard]] RowSet select_rows(const RowSet& rows, std::span<const std::size_t> indices);

}  // namespace berth::models
