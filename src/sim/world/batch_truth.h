/// How long batches really take where a fault of serving says so: the table's time x factor x a uniform draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/core/rng.h"

namespace berth::sim {

/// Of one service. Each batch has a draw of its own, which depends on nothing else that is drawn.
class BatchTruth {
 public:
  /// As the table says.
  BatchTruth() = default;
  /// `stream`: of the fault. Requires: factor > 0, 0 <= jitter < 1.
  BatchTruth(double factor, double jitter, const Rng& stream)
      : is_as_table_(false), factor_(factor), jitter_(jitter), stream_(stream) {}

  /// The time of the batch that a process begins then, at least a microsecond. `rank`: unique among the processes.
  [[nodiscard]] std::int64_t real_us(std::int64_t table_us, std::int64_t begins_us, std::uint64_t rank) const {
    if (is_as_table_) return table_us;
    Rng draw = stream_.split("batch", static_cast<std::uint64_t>(begins_us)).split("process", rank);
    const double share = 1 + jitter_ * (2 * draw.unit() - 1);
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(table_us) * factor_ * share));
  }

 private:
  bool is_as_table_ = true;
  double factor_ = 1;
  double jitter_ = 0;
  Rng stream_{0};
};

}  // namespace berth::sim
