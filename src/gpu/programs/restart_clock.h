/// When a program that ended starts again, and whether it ends too often.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/core/instant.h"

namespace berth::programs {

/// After a failure the program starts again after 1, 2, 4, .. 60 s; from 1 s again once it has been ready for 60 s.
/// It is looping with ten failures in ten minutes.
class RestartClock {
 public:
  static constexpr Micros kPauseFirst = Micros::seconds(1);
  static constexpr Micros kPauseMax = Micros::seconds(60);
  static constexpr Micros kHealthyAfter = Micros::seconds(60);
  static constexpr Micros kWindow = Micros::seconds(600);
  static constexpr std::size_t kLoopingFrom = 10;

  void became_ready(Instant now) { ready_since_ = now; }
  /// It ended, or was not ready in time. Returns when it is to start again. Requires: `now` never decreases.
  Instant failed(Instant now);
  /// Failures in the last ten minutes, at most kLoopingFrom are counted.
  [[nodiscard]] std::int64_t failures(Instant now) const;
  [[nodiscard]] bool is_looping(Instant now) const;

  /// What has to be kept over a restart of the agent: times of failures in ascending order, and the last pause.
  [[nodiscard]] const std::deque<Instant>& failure_times() const { return failures_; }
  [[nodiscard]] Micros pause() const { return pause_; }
  /// Goes on from there. Failures after `now` and surplus ones are left out.
  void restore(const std::vector<Instant>& failures, Micros pause, Instant now);

 private:
  Micros pause_ = Micros(0);  ///< the last one; 0: none yet
  std::optional<Instant> ready_since_;
  std::deque<Instant> failures_;  ///< ascending, at most kLoopingFrom
};

}  // namespace berth::programs
