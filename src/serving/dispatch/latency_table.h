/// How long a batch takes, by its number of rows.
#pragma once

#include <vector>

#include "base/core/instant.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

/// The times of batches of 1 to `rows_max()` rows.
class LatencyTable {
 public:
  /// `by_rows[0]` is the time of one row. Requires: at least one time, all above 0.
  explicit LatencyTable(std::vector<Micros> by_rows);

  [[nodiscard]] RowCount rows_max() const { return static_cast<RowCount>(by_rows_.size()); }
  /// Requires: 1 <= rows <= rows_max().
  [[nodiscard]] Micros at(RowCount rows) const { return by_rows_[static_cast<std::size_t>(rows - 1)]; }
  /// The most rows that take no longer than `limit`; 0 if one row does.
  [[nodiscard]] RowCount rows_within(Micros limit) const;

 private:
  std::vector<Micros> by_rows_;
  std::vector<Micros> least_from_;  ///< the shortest time of so many rows or more: it does not decrease
};

}  // namespace berth::serving
