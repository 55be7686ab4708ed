/// The planner's policies: `berth` with forecasts, and `clairvoyant`, which knows the arrivals.
#pragma once

#include "engine/policy/policy.h"

namespace berth::policy::detail {

/// Whether the policy plans again after the first layout; not with `berth.recuts=0`.
[[nodiscard]] bool planner_replans(const Settings& settings);

[[nodiscard]] MadePolicy make_berth(const Inputs& inputs);
[[nodiscard]] MadePolicy make_clairvoyant(const Inputs& inputs);

}  // namespace berth::policy::detail
