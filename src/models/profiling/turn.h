/// What one size does at a time: some processes run batches back to back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::models {

struct TurnOrder {
  int batch = 1;
  int processes = 1;
  double length_us = 0;  ///< a batch that has begun by then still counts; at least one does
};

/// Of one process. Times in microseconds.
struct ProcessTimes {
  std::int64_t count = 0;              ///< batches; at least 1
  double sum_us = 0;                   ///< of their times
  double elapsed_us = 0;               ///< from the begin of the first to the end of the last
  std::vector<double> sample_us = {};  ///< times of every `stride`-th batch
  std::int64_t stride = 1;

  friend bool operator==(const ProcessTimes&, const ProcessTimes&) = default;
};

struct TurnTimes {
  bool fits = true;  ///< false: the memory was not enough, there are no times
  std::vector<ProcessTimes> processes = {};
  /// Of the process with the most, at its largest since it was started. Nothing: not known.
  std::optional<std::int64_t> memory_bytes = std::nullopt;

  friend bool operator==(const TurnTimes&, const TurnTimes&) = default;
};

}  // namespace berth::models
