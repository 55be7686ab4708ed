/// The time of a world of real GPUs: that of the wall clock, also after a restart.
///
/// The world advances to the wall clock step by step; what it missed (no process ran, the machine slept, the clock was
/// set) is jumped over. Three states, with these transitions:
///
///   follows  its time is that of the wall clock
///     -> waits   the wall clock is behind the world, as it was set back
///     -> by itself   the wall clock is more than kClockGapMax ahead: it may be wrong, and a jump cannot be undone
///   waits    its time stands still
///     -> follows   the wall clock has caught up
///     -> by itself   it has not within kClockWait
///   by itself   its time goes on from where it was, at the rate of a clock that is never set
///     -> follows   the wall clock has caught up, or is at most kClockGapMax ahead
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/core/instant.h"

namespace berth::edges {

/// How long a world waits for a wall clock that is behind it.
inline constexpr Micros kClockWait = Micros::seconds(60);
/// A longer gap is not believed: it needs `--accept-gap`.
inline constexpr Micros kClockGapMax = Micros::seconds(std::int64_t{7} * 24 * 3600);
/// A running process that is behind by at most so much makes the steps that it missed.
inline constexpr Micros kClockCatchUpMax = Micros::seconds(60);

struct RealTimeClockOptions {
  std::int64_t epoch_us = 0;  ///< the wall time of the world's second 0, in microseconds since 1970
  std::function<std::int64_t()> wall_us = [] { return std::int64_t{0}; };  ///< microseconds since 1970
  std::function<std::chrono::steady_clock::time_point()> steady = [] { return std::chrono::steady_clock::now(); };
  /// A line for people, when the state changes: a warning, or that the world follows the clock again.
  std::function<void(bool is_warning, const std::string& message)> report = [](bool, const std::string&) {};
};

class RealTimeClock {
 public:
  /// `now`: of the world. If it is behind by a few minutes, the process has run since, and the world makes these steps.
  /// Trouble is known at once.
  RealTimeClock(RealTimeClockOptions options, Instant now);

  /// How far the world may advance.
  struct Look {
    Instant until;         ///< not before `now`
    bool is_jump = false;  ///< the time up to `until` was missed
  };
  /// `now`: of the world, which has advanced at most to the latest `until`. Called by one thread.
  [[nodiscard]] Look look(Instant now);
  /// Why the world's time is not that of the wall clock; absent: it is. May be called by any thread.
  [[nodiscard]] std::optional<std::string> trouble() const;

 private:
  enum class State : std::uint8_t { kFollows, kWaits, kByItself };

  [[nodiscard]] Look follow(Instant now, Instant wall);
  [[nodiscard]] Look wait(Instant now, Instant wall);
  [[nodiscard]] Look go_on(Instant now, Instant wall);
  [[nodiscard]] Look step_to(Instant now, Instant target) const;
  void begin_by_itself(Instant now, const std::string& why);
  [[nodiscard]] Instant wall_now() const;
  /// Reports the trouble, or that it is over.
  void set_trouble(const std::optional<std::string>& trouble);

  RealTimeClockOptions options_;
  State state_ = State::kFollows;
  Instant stepped_until_;                        ///< up to there nothing is missed
  Instant base_;                                 ///< by itself: the world's time at `since_`
  std::chrono::steady_clock::time_point since_;  ///< when the state began, except kFollows
  mutable std::mutex lock_;
  std::optional<std::string> trouble_;  ///< under lock_
};

/// The world's time by the wall clock, if the time since `known` may be believed: it is later, by at most kClockGapMax
/// unless `accepts_gap`. Absent: the world continues at `known`.
[[nodiscard]] std::optional<Instant> clock_after(Instant known, std::int64_t epoch_us, std::int64_t wall_us,
                                                 bool accepts_gap);

}  // namespace berth::edges
