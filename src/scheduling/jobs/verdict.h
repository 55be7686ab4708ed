/// How the policies compare, in words.
#pragma once

#include <string>
#include <vector>

#include "scheduling/jobs/figures.h"

namespace berth::sched {

/// Names the policy without hindsight with the least mean completion, compared with the next one and with the best that
/// knows the durations, and the other columns in which it is not the best. One run has no spread, so it does not call
/// any policy the best. Requires: at least one result.
[[nodiscard]] std::string schedule_verdict(const std::vector<PolicyFigures>& results);

}  // namespace berth::sched
