/// What the changes of a plan are to gain, and what they gained: the same difference, computed again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/values/promise.h"
#include "planner/window/frame.h"
#include "planner/window/problem.h"

namespace berth {

/// The promise of each GPU whose first change begins in slot 0, ascending. Floors count nothing here.
/// Requires: a schedule without faults. O(GPUs that change x services of theirs x slots x samples).
[[nodiscard]] std::vector<Promise> promises_of(const planner::Frame& frame, const planner::Problem& problem,
                                               const planner::Schedule& schedule);

/// What is known afterwards.
struct PromiseFacts {
  int samples = 1;  ///< of the load, equally likely; what happened is one
  /// Requests per second of a service of the promise: [slot x samples + sample], and after the last slot those of the
  /// tail, as planner::ServiceTerms::loads.
  std::function<std::vector<double>(ServiceId)> loads;
  /// By piece of the promise: the slot from which it worked, at most in the tail; absent: it did not before its end.
  std::vector<std::optional<std::int32_t>> ready;
};

/// The gain of a promise with those loads and times, all else as planned.
[[nodiscard]] double gain_of(const Promise& promise, const PromiseFacts& facts);

}  // namespace berth
