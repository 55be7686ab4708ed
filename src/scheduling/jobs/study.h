/// Policies compared on the same jobs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/core/result.h"
#include "scheduling/jobs/figures.h"
#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/simulation.h"

namespace berth::sched {

/// The listener of a run; each function may be empty.
struct RunListener {
  /// Called after each instant, with its events.
  std::function<void(const Simulation&)> passed = nullptr;
  /// Called from time to time with the share of the jobs that have finished; false ends the run.
  std::function<bool(double share)> progressed = nullptr;
};

/// Continues a run through all instants before a second. False if the listener ended it. Error: as run_policy().
[[nodiscard]] Result<bool> go_on(Simulation& simulation, Seconds before, const RunListener& listener);

/// Runs a policy until every job has finished. Nothing if the listener ended it. Error: under these terms jobs make no
/// progress (rounds shorter than a restart).
[[nodiscard]] Result<std::optional<PolicyFigures>> run_policy(const Workload& workload, const Terms& terms,
                                                              Policy policy, const RunListener& listener);

}  // namespace berth::sched
