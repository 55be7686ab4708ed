#include "surface/cli/schedule/schedule_json.h"

#include "base/json/value.h"
#include "base/json/writer.h"
#include "surface/figures/schedule_figures.h"

namespace berth::cli {
namespace {

using json::Writer;
using sched::LogType;

void write_beneficiary(Writer& json, const sched::Workload& workload, const sched::Beneficiary& beneficiary) {
  json.key("for");
  if (!beneficiary.job && !beneficiary.tenant) {
    json.value(nullptr);
    return;
  }
  json.open_object();
  if (beneficiary.job) {
    json.member("job", workload.job_names[static_cast<std::size_t>(*beneficiary.job)]);
  } else {
    json.member("tenant", workload.tenant(*beneficiary.tenant).name);
  }
  json.close_object();
}

std::string_view type_name(LogType type) {
  switch (type) {
    case LogType::kFinish:
      return "finish";
    case LogType::kPreempt:
      return "preempt";
    case LogType::kStart:
      break;
  }
  return "start";
}

}  // namespace

std::string schedule_json(const sched::Workload& workload, const std::vector<sched::PolicyFigures>& results) {
  return json::Value(
             json::Value::Object{{"berth", 1},
                                 {"jobs", workload.jobs.size()},
                                 {"gpus", workload.gpus},
                                 {"bound_makespan_seconds", sched::makespan_bound(workload)},
                                 {"policies", figures::json_rows(figures::schedule_figures(workload, results))}})
      .to_line();
}

std::string schedule_log_line(const sched::Workload& workload, sched::Policy policy, const sched::LogEntry& entry) {
  Writer json;
  json.open_object();
  json.member("policy", sched::name_of(policy));
  json.member("t_s", entry.time);
  json.member("type", type_name(entry.type));
  json.member("job", workload.job_names[static_cast<std::size_t>(entry.job)]);
  if (entry.type == LogType::kPreempt) {
    write_beneficiary(json, workload, entry.beneficiary);
    json.member("reason", entry.reason);
  }
  json.close_object();
  return json.take_line();
}

std::string schedule_estimate_line(const sched::Workload& workload, sched::Policy policy,
                                   const sched::StartEstimate& estimate) {
  Writer json;
  json.open_object();
  json.member("policy", sched::name_of(policy));
  json.member("job", workload.job_names[static_cast<std::size_t>(estimate.job)]);
  json.member("t_s", workload.job(estimate.job).submit);
  json.member("start_p50_s", estimate.p50);
  json.member("start_p90_s", estimate.p90);
  json.close_object();
  return json.take_line();
}

}  // namespace berth::cli
