/// How the time budget is shared between searches and measurements.
#pragma once

#include <cstdint>

#include "base/core/instant.h"

namespace berth::models {

/// A share of the whole is kept for measuring variants; the rest is for searches, by weight. Time that one does not use
/// goes to the next ones.
class TimePlan {
 public:
  /// Requires: total > 0; the counts are at least 0.
  TimePlan(Instant start, Micros total, int variants, int search_weights);

  /// The end of the next search, or an instant at most `now`: there is no time for it and for measuring what comes of
  /// it.
  [[nodiscard]] Instant begin_search(Instant now, int weight);
  /// The time for measuring the next variant; at least kMeasureMin, so that a figure exists.
  [[nodiscard]] Micros begin_measuring();
  /// Later variants are expected to take as long: their loads and runs are not cut short.
  void note_measured(Micros took);
  /// A search or a variant that does not take place after all.
  void drop_search(int weight);
  void drop_variant();

  /// What each variant gets for measuring, of the whole budget.
  [[nodiscard]] static Micros measuring_share(Micros total, int variants);

  [[nodiscard]] bool is_over(Instant now) const { return now >= end_; }

  static constexpr Micros kMeasureMin = Micros(200'000);

 private:
  Instant end_;
  Micros measure_each_;
  Micros expected_each_;  ///< the same, or what one took
  int variants_left_;
  int weights_left_;
};

}  // namespace berth::models
