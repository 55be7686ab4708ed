/// Policies that decide their layout once, from what is known before second 0 or in hindsight.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/policy/policy.h"
#include "engine/rivals/layout.h"

namespace berth::policy::detail {

/// A layout that is decided once; in addition, a slice of a service is lent to its retraining while one is due.
[[nodiscard]] MadePolicy layout_once(const Inputs& inputs, std::string name,
                                     std::function<partition::LayoutOrInfeasible(const Snapshot&)> decide);

/// The number of requests of each service over the run, by `Inputs::arrivals`.
[[nodiscard]] std::vector<double> total_requests(const Inputs& inputs);

[[nodiscard]] MadePolicy make_fixed(const Inputs& inputs);
[[nodiscard]] MadePolicy make_shared(const Inputs& inputs);
[[nodiscard]] MadePolicy make_whole(const Inputs& inputs);
[[nodiscard]] MadePolicy make_static_even(const Inputs& inputs);
[[nodiscard]] MadePolicy make_paris(const Inputs& inputs);

}  // namespace berth::policy::detail
