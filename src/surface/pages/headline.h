/// The first sentence of a report: the policy with the highest goodput, and its cost compared with common practice.
#pragma once

#include <string>

#include "domain/values/scenario.h"
#include "sim/study/replay.h"

namespace berth::report {

/// Plain text of one or two sentences. Of the policies without hindsight, which alone could run live, the one with the
/// highest goodput (the scenario's objective; ties: the earlier) is compared with `shared`, or else with `static-even`.
/// Unknown costs are left out.
[[nodiscard]] std::string headline(const Scenario& scenario, const study::ReplayResult& result);

}  // namespace berth::report
