/// Measured performance of a model on slices: the rows of a profile table.
#pragma once

#include <string>
#include <vector>

#include "base/core/decimal.h"

namespace berth {

/// One measured row: a model on one profile of one GPU model, with a batch size and a number of processes.
struct PerformancePoint {
  std::string gpu;              ///< full name of the GPU model
  std::string profile;          ///< full name of the profile ("2g.20gb") or "full"
  int batch = 1;                ///< 1 ..
  int processes = 1;            ///< 1 ..
  Decimal requests_per_second;  ///< of the whole slice, all processes together; > 0
  Decimal latency_ms;           ///< of one batch; > 0
  friend bool operator==(const PerformancePoint&, const PerformancePoint&) = default;
};

/// All measured rows of one model, sorted by (gpu, profile, processes, batch), no two with the same four. Never
/// monotone by assumption: a larger slice may be slower.
struct PerformanceTable {
  std::string model;
  std::vector<PerformancePoint> points;
  friend bool operator==(const PerformanceTable&, const PerformanceTable&) = default;
};

}  // namespace berth
