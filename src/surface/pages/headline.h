/// The first sentence of a report: the policy with the highest goodput, and its cost compared with common practice.
#pragma once

#include <string>

#include "domain/values/scenario.h"
#include "sim/study/replay.h"

namespace berth::report {

/// Plain text of one to three sentences. The policy with the highest goodput (the scenario's objective; ties: the
/// earlier) is compared with `shared`, or else with `whole`. If the best one works in hindsight, the best one that does
/// not is named too. Unknown costs are left out.
[[nodiscard]] std::string headline(const Scenario& scenario, const study::ReplayResult& result);

}  // namespace berth::report
