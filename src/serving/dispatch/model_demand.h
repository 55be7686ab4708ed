/// How much a model is asked for: over the last seconds, and over its last requests, however long ago they were.
#pragma once

#include <array>
#include <cstdint>

#include "serving/dispatch/arrival_rate.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

class ModelDemand {
 public:
  void learn_arrival(Instant now, RowCount rows);

  /// Rows per second, of the last seconds.
  [[nodiscard]] double rows_per_second(Instant now) const { return recent_.per_second(now); }
  /// Requests per second since the last `kRemembered` of them, or since the first; 0 before it. The memory is as long
  /// as the model is quiet, so that models that are seldom asked for can be told apart.
  [[nodiscard]] double requests_per_second(Instant now) const;

 private:
  static constexpr std::size_t kRemembered = 16;

  ArrivalRate recent_ = ArrivalRate(Micros::seconds(2));
  std::array<Instant, kRemembered> last_ = {};  ///< a ring
  std::uint64_t count_ = 0;
};

}  // namespace berth::serving
