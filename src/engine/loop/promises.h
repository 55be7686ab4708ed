/// The expected gain of a plan's changes, and the gain achieved: the same difference, computed again afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/values/promise.h"
#include "planner/window/frame.h"
#include "planner/window/problem.h"

namespace berth {

/// The promise of each GPU whose first change begins in slot 0, ascending. Floors do not contribute to gains here.
/// Requires: a schedule without faults. O(GPUs that change x services of theirs x slots x samples).
[[nodiscard]] std::vector<Promise> promises_of(const planner::Frame& frame, const planner::Problem& problem,
                                               const planner::Schedule& schedule);

/// The facts known afterwards.
struct PromiseFacts {
  int samples = 1;  ///< of the load, equally likely; what happened is one
  /// Requests per second of a service of the promise: [slot x samples + sample]; the row after the last slot is for the
  /// tail, as planner::ServiceTerms::loads.
  std::function<std::vector<double>(ServiceId)> loads;
  /// By piece of the promise: the slot from which it worked, at the latest in the tail; absent: it never worked.
  std::vector<std::optional<std::int32_t>> ready;
};

/// The gain of a promise with those loads and times, all else as planned.
[[nodiscard]] double gain_of(const Promise& promise, const PromiseFacts& facts);

}  // namespace berth
