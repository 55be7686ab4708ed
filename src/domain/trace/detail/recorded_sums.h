/// Sums of a recorded trace's requests over ranges of seconds, for smoothing.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/values/arrivals.h"

namespace berth::detail {

/// Requests of a trace within whole seconds, counted in parts of a request: a minute's calls spread evenly over it, so
/// that a second has 60ths. Keeps a reference to `arrivals`.
///
/// Build: O(seconds / 64) memory for a trace by second, 8 bytes per minute for one by minute, none for one with times.
/// A sum costs O(64), O(1) and O(log requests).
class RecordedSums {
 public:
  /// Requires: `arrivals` has a trace, not a generator.
  explicit RecordedSums(const Arrivals& arrivals);

  /// Length of the trace in seconds.
  [[nodiscard]] std::int64_t seconds() const { return seconds_; }
  /// Parts that make one request.
  [[nodiscard]] std::int64_t parts() const { return parts_; }
  /// Parts in the seconds [0, second). Requires: 0 <= second <= seconds().
  [[nodiscard]] std::int64_t before(std::int64_t second) const;
  /// An upper bound on the parts of any second; not always reached. O(seconds). Requires: the trace is not empty.
  [[nodiscard]] std::int64_t second_parts_max() const;

 private:
  const Arrivals* arrivals_;
  std::int64_t seconds_ = 0;
  std::int64_t parts_ = 1;
  std::vector<std::int64_t> blocks_;  ///< parts before each block of counts
};

/// The requests of `smooth_seconds` around a second: the mean is parts / (RecordedSums::parts() x seconds).
struct SmoothedWindow {
  std::int64_t parts = 0;
  std::int64_t seconds = 1;
};

/// The window [second - W/2, second - W/2 + W), truncated at the trace's ends; W/2 rounds down. Requires: the trace has
/// the second, smooth_seconds > 0.
[[nodiscard]] SmoothedWindow smoothed_window(const RecordedSums& sums, std::int64_t second,
                                             std::int64_t smooth_seconds);

}  // namespace berth::detail
