/// The expected gain of a plan's changes, and the gain achieved: the same difference, computed again afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/values/promise.h"
#include "planner/window/frame.h"
#include "planner/window/problem.h"
#include "planner/window/window.h"

namespace berth {

/// The promise of each GPU whose first change begins in slot 0, ascending. Floors do not contribute to gains here.
/// Requires: a schedule without faults. O(GPUs that change x services of theirs x slots x samples).
[[nodiscard]] std::vector<Promise> promises_of(const planner::Frame& frame, const planner::Problem& problem,
                                               const planner::Schedule& schedule);

/// Changes a promise that was made with loads `raised` times those expected ([ServiceId]) so that the expected loads
/// fulfil it: of such a service each answer is worth `raised` times as much, and each slice answers 1 / `raised` of its
/// requests. Then gain_of judges what the plan did, an actual load being raised as the expected one was.
void count_on_expected_loads(Promise& promise, const std::vector<planner::Outlook>& outlooks);

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
