/// `static-best`: the best fixed layout for the run, found in hindsight by replaying layouts.
#pragma once

#include "engine/policy/policy.h"

namespace berth::policy::detail {

/// The search runs while the policy is made, with `Inputs::trials`.
[[nodiscard]] MadePolicy make_static_best(const Inputs& inputs);

}  // namespace berth::policy::detail
