/// What `berth schedule` writes beside its answer: --log, --estimates and --report, each whole or not at all.
#pragma once

#include <functional>
#include <vector>

#include "base/core/result.h"
#include "scheduling/jobs/comparison.h"
#include "scheduling/jobs/simulation.h"
#include "surface/cli/schedule/schedule_options.h"
#include "surface/cli/shared/output_lines.h"
#include "surface/cli/shared/report_folder.h"

namespace berth::cli {

/// The request and the workload must outlive it.
class ScheduleOutputs {
 public:
  ScheduleOutputs(const ScheduleRequest& request, const sched::Workload& workload);

  [[nodiscard]] Result<void> open();
  /// Follows the run of a policy, to be called after each instant; empty if nobody wants it.
  [[nodiscard]] std::function<void(const sched::Simulation&)> follower(sched::Policy policy);
  /// What could not be written so far.
  [[nodiscard]] Result<void> written() const { return log_.written() ? estimates_.written() : log_.written(); }
  /// Requires: all policies have run.
  [[nodiscard]] Result<void> commit(const std::vector<sched::PolicyFigures>& results);

 private:
  const ScheduleRequest& request_;
  OutputLines log_;
  OutputLines estimates_;
  ReportFolder folder_;
  sched::Comparison comparison_;
};

}  // namespace berth::cli
