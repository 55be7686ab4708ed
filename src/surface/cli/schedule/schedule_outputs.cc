#include "surface/cli/schedule/schedule_outputs.h"

#include <memory>
#include <optional>
#include <string>

#include "scheduling/jobs/start_estimates.h"
#include "surface/cli/schedule/schedule_json.h"
#include "surface/pages/schedule_report.h"

namespace berth::cli {

ScheduleOutputs::ScheduleOutputs(const ScheduleRequest& request, const sched::Workload& workload)
    : request_(request), comparison_{.trace_name = request.trace_path, .workload = &workload, .terms = request.terms} {
  comparison_.courses.reserve(request.policies.size());  // followers point at them
}

Result<void> ScheduleOutputs::open() {
  if (auto opened = log_.open(request_.log_path); !opened) return opened;
  if (auto opened = estimates_.open(request_.estimates_path); !opened) return opened;
  return request_.report_dir ? folder_.make(*request_.report_dir) : Result<void>();
}

std::function<void(const sched::Simulation&)> ScheduleOutputs::follower(sched::Policy policy) {
  const sched::Workload& workload = *comparison_.workload;
  sched::RunCourse* course = nullptr;
  if (request_.report_dir) course = &comparison_.courses.emplace_back(workload, policy);
  std::shared_ptr<sched::StartEstimates> estimates;
  if (estimates_.is_open() && sched::has_start_estimates(policy)) {
    estimates = std::make_shared<sched::StartEstimates>(workload, policy);
  }
  if (!log_.is_open() && !estimates && course == nullptr) return nullptr;
  return [this, &workload, policy, course, estimates](const sched::Simulation& simulation) {
    if (log_.is_open()) {
      for (const sched::LogEntry& entry : simulation.log()) log_.add(schedule_log_line(workload, policy, entry));
    }
    if (course != nullptr) course->add(simulation);
    if (!estimates) return;
    for (const sched::StartEstimate& estimate : estimates->passed(simulation)) {
      estimates_.add(schedule_estimate_line(workload, policy, estimate));
    }
  };
}

Result<void> ScheduleOutputs::commit(const std::vector<sched::PolicyFigures>& results) {
  std::optional<std::string> page;
  if (request_.report_dir) {
    comparison_.results = results;
    page = report::render_schedule_report(comparison_);
  }
  if (auto written = log_.commit(); !written) return written;
  if (auto written = estimates_.commit(); !written) return written;
  return page ? folder_.write_page(*page) : Result<void>();
}

}  // namespace berth::cli
