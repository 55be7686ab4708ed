#include "surface/cli/schedule/schedule_outputs.h"

#include <memory>
#include <string>

#include "scheduling/jobs/start_estimates.h"
#include "surface/cli/schedule/schedule_json.h"
#include "surface/pages/schedule_report.h"

namespace berth::cli {

ScheduleOutputs::ScheduleOutputs(const ScheduleRequest& request, const sched::Workload& workload, RunOutputs& outputs)
    : request_(request),
      outputs_(outputs),
      comparison_{.trace_name = request.trace_path, .workload = &workload, .terms = request.terms} {
  comparison_.courses.reserve(request.policies.size());  // followers point to them
}

Result<void> ScheduleOutputs::open() {
  const auto log = outputs_.open_lines(request_.log_path);
  if (!log) return pass_on(log.error());
  const auto estimates = outputs_.open_lines(request_.estimates_path);
  if (!estimates) return pass_on(estimates.error());
  log_ = *log;
  estimates_ = *estimates;
  return outputs_.open_report(request_.report_dir);
}

std::function<void(const sched::Simulation&)> ScheduleOutputs::follower(sched::Policy policy) {
  const sched::Workload& workload = *comparison_.workload;
  sched::RunCourse* course = nullptr;
  if (outputs_.has_report()) course = &comparison_.courses.emplace_back(workload, policy);
  std::shared_ptr<sched::StartEstimates> estimates;
  if (estimates_->is_open() && sched::has_start_estimates(policy)) {
    estimates = std::make_shared<sched::StartEstimates>(workload, policy);
  }
  if (!log_->is_open() && !estimates && course == nullptr) return nullptr;
  return [this, &workload, policy, course, estimates](const sched::Simulation& simulation) {
    if (log_->is_open()) {
      for (const sched::LogEntry& entry : simulation.log()) log_->add(schedule_log_line(workload, policy, entry));
    }
    if (course != nullptr) course->add(simulation);
    if (!estimates) return;
    for (const sched::StartEstimate& estimate : estimates->passed(simulation)) {
      estimates_->add(schedule_estimate_line(workload, policy, estimate));
    }
  };
}

std::string ScheduleOutputs::page(const std::vector<sched::PolicyFigures>& results) {
  comparison_.results = results;
  return report::render_schedule_report(comparison_);
}

}  // namespace berth::cli
