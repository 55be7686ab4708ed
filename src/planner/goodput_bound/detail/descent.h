/// Searches for prices at which the dual function is small.
#pragma once

#include <functional>
#include <optional>

#include "planner/goodput_bound/detail/dual.h"

namespace berth::bound::detail {

/// Subgradient steps from prices of 0, each price by a step of its own (Adam: Kingma and Ba 2015), the steps shrinking
/// geometrically. Returns the smallest value seen, which is a bound for any number of steps. `goes_on` is called before
/// each step with its number; if it returns false, nothing is returned. Deterministic. O(steps x a value).
[[nodiscard]] std::optional<double> least_value(Dual& dual, int steps, const std::function<bool(int step)>& goes_on);

}  // namespace berth::bound::detail
