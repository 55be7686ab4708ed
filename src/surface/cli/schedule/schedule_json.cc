#include "surface/cli/schedule/schedule_json.h"

#include <fmt/format.h>

#include "base/json/writer.h"

namespace berth::cli {
namespace {

using json::JsonWriter;
using sched::LogType;
using sched::PolicyFigures;

void write_figure(JsonWriter& json, std::string_view key, double value) {
  json.key(key).number(fmt::format("{:.9f}", value));
}

void write_spread(JsonWriter& json, std::string_view key, const sched::Spread& spread) {
  json.key(key).open_object();
  json.key("sum").integer(spread.sum);
  write_figure(json, "mean", spread.mean);
  json.key("p50").integer(spread.p50);
  json.key("p99").integer(spread.p99);
  json.key("max").integer(spread.max);
  json.close_object();
}

void write_tenant(JsonWriter& json, const sched::TenantFigures& tenant) {
  json.open_object();
  json.key("tenant").text(tenant.tenant);
  json.key("jobs").integer(tenant.jobs);
  json.key("gpu_seconds").integer(tenant.gpu_seconds);
  write_figure(json, "completion_mean", tenant.completion_mean);
  json.key("gpu_seconds_borrowed").integer(tenant.gpu_seconds_borrowed);
  json.close_object();
}

void write_policy(JsonWriter& json, const PolicyFigures& figures) {
  json.open_object();
  json.key("policy").text(sched::name_of(figures.policy));
  json.key("hindsight").truth(sched::has_hindsight(figures.policy));
  write_spread(json, "completion_seconds", figures.completion);
  write_spread(json, "wait_seconds", figures.wait);
  json.key("slowdown").open_object();
  write_figure(json, "mean", figures.slowdown_mean);
  write_figure(json, "p99", figures.slowdown_p99);
  json.close_object();
  write_figure(json, "rho_worst", figures.rho_worst);
  json.key("makespan_seconds").integer(figures.makespan);
  write_figure(json, "utilisation", figures.utilisation);
  json.key("preemptions").integer(figures.preemptions);
  json.key("restart_gpu_seconds").integer(figures.restart_gpu_seconds);
  json.key("deadlines_missed").integer(figures.deadlines_missed);
  json.key("tenants").open_list();
  for (const sched::TenantFigures& tenant : figures.tenants) write_tenant(json, tenant);
  json.close_list().close_object();
}

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

std::string schedule_json(const sched::Workload& workload, const std::vector<PolicyFigures>& results) {
  JsonWriter json;
  json.open_object();
  json.key("berth").integer(1);
  json.key("jobs").integer(std::ssize(workload.jobs));
  json.key("gpus").integer(workload.gpus);
  json.key("bound_makespan_seconds").integer(sched::makespan_bound(workload));
  json.key("policies").open_list();
  for (const PolicyFigures& figures : results) write_policy(json, figures);
  json.close_list().close_object();
  return json.take();
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
