/// The published planners that repartition during the run, adapted (docs/reference/policies.md).
#pragma once

#include "engine/policy/policy.h"

namespace berth::policy::detail {

[[nodiscard]] MadePolicy make_ekya(const Inputs& inputs);
[[nodiscard]] MadePolicy make_astraea(const Inputs& inputs);
[[nodiscard]] MadePolicy make_migrator(const Inputs& inputs);

}  // namespace berth::policy::detail
