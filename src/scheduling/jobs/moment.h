/// The state of a run at one second, for questions about it; no question changes it.
#pragma once

#include <optional>

#include "base/core/result.h"
#include "scheduling/jobs/run_times.h"
#include "scheduling/jobs/simulation.h"
#include "scheduling/jobs/start_estimates.h"
#include "scheduling/jobs/study.h"

namespace berth::sched {

struct Moment {
  Simulation before;  ///< after the finishes and arrivals of the second, before its decision
  Simulation after;   ///< after the decision, if the policy decides at this second
  RunTimes run_times;
  std::optional<StartEstimates> start_estimates;  ///< of policies that have them
};

/// Runs a policy up to a second. Nothing if the listener ended the run. Errors: as run_policy(). Requires: at >= 0.
[[nodiscard]] Result<std::optional<Moment>> moment_at(const Workload& workload, const Terms& terms, Policy policy,
                                                      Seconds at, const RunListener& listener);

}  // namespace berth::sched
