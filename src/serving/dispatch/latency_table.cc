#include "serving/dispatch/latency_table.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::serving {

LatencyTable::LatencyTable(std::vector<Micros> by_rows) : by_rows_(std::move(by_rows)), least_from_(by_rows_) {
  ENSURE(!by_rows_.empty() && *std::ranges::min_element(by_rows_) > Micros(0));
  for (std::size_t i = least_from_.size() - 1; i > 0; --i) {
    least_from_[i - 1] = std::min(least_from_[i - 1], least_from_[i]);
  }
}

RowCount LatencyTable::rows_within(Micros limit) const {
  const auto longer = std::ranges::upper_bound(least_from_, limit);
  return static_cast<RowCount>(longer - least_from_.begin());
}

}  // namespace berth::serving
