/// The published planners that re-partition while they run, adapted (docs/policies.md).
#pragma once

#include "policy/policy.h"

namespace berth::policy::detail {

[[nodiscard]] MadePolicy make_ekya(const Inputs& inputs);
[[nodiscard]] MadePolicy make_astraea(const Inputs& inputs);
[[nodiscard]] MadePolicy make_migrator(const Inputs& inputs);

}  // namespace berth::policy::detail
