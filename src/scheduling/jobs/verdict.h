/// Which policy is best, in words.
#pragma once

#include <string>
#include <vector>

#include "scheduling/jobs/figures.h"

namespace berth::sched {

/// The policy with the least mean completion of those without hindsight, compared with the next best one and with the
/// best that knows the durations. Requires: at least one result.
[[nodiscard]] std::string schedule_verdict(const std::vector<PolicyFigures>& results);

}  // namespace berth::sched
