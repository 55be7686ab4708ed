/// Simulated serving as text for people.
#pragma once

#include <string>
#include <vector>

#include "serving/simulation/study.h"
#include "surface/cli/serve/simulate_json.h"

namespace berth::cli {

[[nodiscard]] std::string simulate_table(const serving::ServingCase& serving_case,
                                         const std::vector<PolicyOutcome>& policies, bool has_colour);

}  // namespace berth::cli
