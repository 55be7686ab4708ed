/// The planner's policies: `berth` by forecasts, and `clairvoyant`, which knows what comes.
#pragma once

#include "policy/policy.h"

namespace berth::policy::detail {

/// False where the first layout is to stand for the whole run (`berth.recuts=0`).
[[nodiscard]] bool planner_replans(const Settings& settings);

[[nodiscard]] MadePolicy make_berth(const Inputs& inputs);
[[nodiscard]] MadePolicy make_clairvoyant(const Inputs& inputs);

}  // namespace berth::policy::detail
