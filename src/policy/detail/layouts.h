/// Policies that decide their layout once, from what is known before second 0 or in hindsight.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "partition/layout.h"
#include "policy/policy.h"

namespace berth::policy::detail {

/// A layout that is decided once; beside it, retrainings borrow a slice of their service while they are due.
[[nodiscard]] MadePolicy layout_once(const Inputs& inputs, std::string name,
                                     std::function<partition::LayoutOrInfeasible(const Snapshot&)> decide);

/// Requests of each service over the run, as `Inputs::arrivals` counts them.
[[nodiscard]] std::vector<double> total_requests(const Inputs& inputs);

[[nodiscard]] MadePolicy make_fixed(const Inputs& inputs);
[[nodiscard]] MadePolicy make_shared(const Inputs& inputs);
[[nodiscard]] MadePolicy make_whole(const Inputs& inputs);
[[nodiscard]] MadePolicy make_static_even(const Inputs& inputs);
[[nodiscard]] MadePolicy make_paris(const Inputs& inputs);

}  // namespace berth::policy::detail
