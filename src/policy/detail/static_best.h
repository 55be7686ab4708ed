/// `static-best`: the layout that would have been best for the run, found by replaying layouts.
#pragma once

#include "policy/policy.h"

namespace berth::policy::detail {

/// Searches while it is made, by `Inputs::trials`.
[[nodiscard]] MadePolicy make_static_best(const Inputs& inputs);

}  // namespace berth::policy::detail
