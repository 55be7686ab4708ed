/// Which policy is best, in words.
#pragma once

#include <string>
#include <vector>

#include "scheduling/jobs/figures.h"

namespace berth::sched {

/// Names the policy without hindsight with the least mean completion, compared with the next best one and with the best
/// that knows the durations. Requires: at least one result.
[[nodiscard]] std::string schedule_verdict(const std::vector<PolicyFigures>& results);

}  // namespace berth::sched
