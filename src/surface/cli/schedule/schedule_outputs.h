/// The outputs of `berth schedule` in addition to its answer: --log, --estimates and --report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "scheduling/jobs/comparison.h"
#include "scheduling/jobs/simulation.h"
#include "surface/cli/schedule/schedule_options.h"
#include "surface/cli/shared/run_outputs.h"

namespace berth::cli {

/// The request, the workload and the outputs must outlive it.
class ScheduleOutputs {
 public:
  ScheduleOutputs(const ScheduleRequest& request, const sched::Workload& workload, RunOutputs& outputs);

  [[nodiscard]] Result<void> open();
  /// A function that records the run of a policy, to be called after each instant; empty if no output is wanted.
  [[nodiscard]] std::function<void(const sched::Simulation&)> follower(sched::Policy policy);
  /// Requires: all policies have run, and a report is wanted.
  [[nodiscard]] std::string page(const std::vector<sched::PolicyFigures>& results);

 private:
  const ScheduleRequest& request_;
  RunOutputs& outputs_;
  OutputLines* log_ = nullptr;        ///< open() sets it
  OutputLines* estimates_ = nullptr;  ///< likewise
  sched::Comparison comparison_;
};

}  // namespace berth::cli
