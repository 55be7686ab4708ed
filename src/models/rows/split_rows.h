/// Which rows choose and which ones judge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/result.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// Indices of rows, ascending.
struct RowHalves {
  std::vector<std::size_t> choosing;
  std::vector<std::size_t> judging;

  friend bool operator==(const RowHalves&, const RowHalves&) = default;
};

/// Two halves at random; of an odd number one more judges. Equal arguments give equal halves. Errors: fewer than two
/// rows.
[[nodiscard]] Result<RowHalves> split_rows(std::size_t count, std::uint64_t seed);

/// Indices, ascending, of the rows of `rows` that equal no row of `others`, byte by byte in all inputs; labels do not
/// matter. Requires: both fit the same model. O(n log n) in the number of rows.
[[nodiscard]] std::vector<std::size_t> rows_not_in(const RowSet& rows, const RowSet& others);

}  // namespace berth::models
