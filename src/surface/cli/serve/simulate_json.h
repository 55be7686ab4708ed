/// Simulated serving as JSON.
#pragma once

#include <string>
#include <vector>

#include "serving/dispatch/terms.h"
#include "serving/simulation/figures.h"
#include "serving/simulation/run_event.h"
#include "serving/simulation/study.h"

namespace berth::cli {

/// What a policy came to.
struct PolicyOutcome {
  serving::DispatchPolicy policy;
  serving::EvictionRule eviction = serving::EvictionRule::kValue;  ///< that it uses
  serving::RunFigures figures;
};

[[nodiscard]] std::string simulate_json(const serving::ServingCase& serving_case,
                                        const std::vector<PolicyOutcome>& policies);

/// A line of --log, with its newline.
[[nodiscard]] std::string simulate_log_line(const serving::RunEvent& event, const serving::ServingCase& serving_case);

}  // namespace berth::cli
