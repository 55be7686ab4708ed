#include "surface/cli/schedule/schedule_json.h"

#include "base/json/value.h"
#include "base/json/writer.h"
#include "surface/figures/schedule_figures.h"

namespace berth::cli {
namespace {

using json::JsonWriter;
using sched::LogType;

void write_beneficiary(JsonWriter& json, const sched::Workload& workload, const sched::Beneficiary& beneficiary) {
  json.key("for");
  if (!beneficiary.job && !beneficiary.tenant) {
    json.null();
    return;
  }
  json.open_object();
  if (beneficiary.job) {
    json.key("job").text(workload.job_names[static_cast<std::size_t>(*beneficiary.job)]);
  } else {
    json.key("tenant").text(workload.tenant(*beneficiary.tenant).name);
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
  JsonWriter json;
  json.open_object();
  json.key("policy").text(sched::name_of(policy));
  json.key("t_s").integer(entry.time);
  json.key("type").text(type_name(entry.type));
  json.key("job").text(workload.job_names[static_cast<std::size_t>(entry.job)]);
  if (entry.type == LogType::kPreempt) {
    write_beneficiary(json, workload, entry.beneficiary);
    json.key("reason").text(entry.reason);
  }
  json.close_object();
  return json.take();
}

std::string schedule_estimate_line(const sched::Workload& workload, sched::Policy policy,
                                   const sched::StartEstimate& estimate) {
  JsonWriter json;
  json.open_object();
  json.key("policy").text(sched::name_of(policy));
  json.key("job").text(workload.job_names[static_cast<std::size_t>(estimate.job)]);
  json.key("t_s").integer(workload.job(estimate.job).submit);
  json.key("start_p50_s").integer(estimate.p50);
  json.key("start_p90_s").integer(estimate.p90);
  json.close_object();
  return json.take();
}

}  // namespace berth::cli
