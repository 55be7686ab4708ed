/// The timeline of a run, for pictures: the run is served again from the log of the counts it wanted.
#pragma once

#include <cstdint>
#include <vector>

#include "purchase/scale/problem.h"
#include "purchase/scale/study.h"

namespace berth::scale {

/// Sums over the seconds of a bin.
struct CourseBin {
  std::int64_t seconds = 0;
  std::int64_t arrivals = 0;
  std::int64_t arrivals_max = 0;  ///< in one second
  std::int64_t ready = 0;         ///< replica-seconds
  std::int64_t starting = 0;      ///< replica-seconds
  /// Requests that became too late in these seconds. Those still waiting at the end of the run count in its last
  /// second.
  std::int64_t missed = 0;

  friend bool operator==(const CourseBin&, const CourseBin&) = default;
};

/// A part of a run, as bins of equal length; the last one may be shorter.
struct CourseWindow {
  std::int64_t from_second = 0;
  std::int64_t seconds = 0;
  std::int64_t bin_seconds = 1;
};

/// The timeline of a policy's run in a window. O(seconds up to the end of the window). Requires: `result` is of
/// `problem`; the window is within the run, bin_seconds > 0.
[[nodiscard]] std::vector<CourseBin> course_of(const Problem& problem, const PolicyResult& result,
                                               const CourseWindow& window);

}  // namespace berth::scale
