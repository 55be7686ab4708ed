/// The times of many batches in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/profiling/turn.h"

namespace berth::models {

/// Sums are of all times; of the times themselves every `stride`-th is kept, and the stride doubles when there are too
/// many.
class SampledTimes {
 public:
  static constexpr std::size_t kSampleMax = 4096;

  void add(double time_us);
  /// So far. `elapsed_us`: from the begin of the first to the end of the last.
  [[nodiscard]] ProcessTimes times(double elapsed_us) const;
  [[nodiscard]] std::int64_t count() const { return times_.count; }

 private:
  void thin_out();

  ProcessTimes times_;
};

}  // namespace berth::models
