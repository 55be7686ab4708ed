/// Estimates speed factors from the times of batches: which of them should be recorded. docs/reference/calibration.md
/// states the rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/speed_factors.h"
#include "sim/world/batch_times.h"

namespace berth::live {

/// A factor is recorded where the measured one differs from what is known by at least this share ..
inline constexpr double kSpeedDrift = 0.1;
/// .. over at least so many batches: those after the oldest quarter of the shortest latest stretch that is long enough.
/// The quarter must agree with them: where the speed has just changed, it holds what was before ..
inline constexpr std::int64_t kSpeedBatchesMin = 200;
inline constexpr Micros kSpeedStretch = Micros::seconds(60);
inline constexpr double kSpeedAgreement = 0.04;
/// .. and at most once in that time at one place: six times an hour.
inline constexpr Micros kSpeedSpacing = Micros::seconds(600);
/// A factor ends after that time without batches.
inline constexpr Micros kSpeedEnd = Micros::seconds(1800);

/// The ratio over the latest stretch of a place.
struct SpeedEstimate {
  double factor = 1;
  std::int64_t batches = 0;
};

class SpeedEstimator {
 public:
  /// Nothing was seen before `now`: what is known ends after kSpeedEnd without batches.
  void begin(Instant now) { began_ = now; }
  /// Adds a second of a place. Requires: seconds of a place ascend.
  void add(const sim::BatchTimes& times);
  /// Another service may take the place, or its table is another one.
  void forget(ServiceId service);

  /// What should be recorded now, by place, given what is: new factors, and those that end. `is_used`:
  /// SpeedMeasured::is_used. O(places with batches since the last call x their stretch).
  [[nodiscard]] std::vector<SpeedMeasured> find_news(const SpeedFactors& known, Instant now, bool is_used);
  /// Absent before the first batch of the last half hour.
  [[nodiscard]] std::optional<SpeedEstimate> estimate_of(const SpeedPlace& place) const;
  /// The places with batches, ascending.
  [[nodiscard]] std::vector<SpeedPlace> places() const;

 private:
  struct Second {
    std::int64_t second = 0;
    std::int64_t batches = 0;
    std::int64_t table_us = 0;
    std::int64_t real_us = 0;
  };
  struct Stretch {
    std::deque<Second> seconds;  ///< those with batches
    Second sum;                  ///< of all of them
    bool has_news = false;       ///< since they were last looked at
  };

  static void shorten(Stretch& stretch, std::int64_t now_second);
  /// The stretch without its oldest quarter, if it is long enough and of one piece.
  [[nodiscard]] static std::optional<Second> settled(const Stretch& stretch);
  [[nodiscard]] std::optional<SpeedMeasured> find_news(const SpeedPlace& place, Stretch& stretch,
                                                       const SpeedFactors& known, Instant now) const;
  [[nodiscard]] bool has_ended(const SpeedPlace& place, const SpeedFactor& speed, Instant now) const;

  std::map<SpeedPlace, Stretch> stretches_;
  Instant began_;
};

}  // namespace berth::live
