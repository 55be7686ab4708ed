/// The times of batches by service and kind of slice, second by second, with those of the tables for the same batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "domain/values/speed_factors.h"

namespace berth::sim {

/// The batches at one place that ended in one second. Of services that are served by rates there are none.
struct BatchTimes {
  SpeedPlace place;
  std::int64_t second = 0;
  std::int64_t batches = 0;   ///< > 0
  std::int64_t table_us = 0;  ///< the table's times of these batches, with the interference when they began
  std::int64_t real_us = 0;   ///< how long they took
  friend bool operator==(const BatchTimes&, const BatchTimes&) = default;
};

/// Sums the times of batches.
class BatchTimesMeter {
 public:
  /// The index of a place, for `add`. O(log places).
  [[nodiscard]] std::size_t index_of(const SpeedPlace& place);
  /// A batch has ended. O(1).
  void add(std::size_t index, std::int64_t table_us, std::int64_t real_us);
  /// What was added since the last call, by place. O(places).
  [[nodiscard]] std::vector<BatchTimes> take(std::int64_t second);

 private:
  std::map<SpeedPlace, std::size_t> indices_;
  std::vector<BatchTimes> sums_;  ///< by index
};

}  // namespace berth::sim
