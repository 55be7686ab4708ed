#include "surface/cli/schedule/schedule_json.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace berth::cli {
namespace {

using sched::LogType;
using sched::PolicyFigures;
using Json = nlohmann::ordered_json;

/// A whole number; beyond 64 bits the nearest double.
Json whole_json(Int128 value) {
  if (value <= std::numeric_limits<std::int64_t>::max()) return static_cast<std::int64_t>(value);
  return static_cast<double>(value);
}

Json spread_json(const sched::Spread& spread) {
  Json entry;
  entry["sum"] = whole_json(spread.sum);
  entry["mean"] = spread.mean;
  entry["p50"] = spread.p50;
  entry["p99"] = spread.p99;
  entry["max"] = spread.max;
  return entry;
}

Json tenant_json(const sched::TenantFigures& tenant) {
  Json entry;
  entry["tenant"] = tenant.tenant;
  entry["jobs"] = tenant.jobs;
  entry["gpu_seconds"] = whole_json(tenant.gpu_seconds);
  entry["completion_mean"] = tenant.completion_mean;
  entry["gpu_seconds_borrowed"] = whole_json(tenant.gpu_seconds_borrowed);
  return entry;
}

Json policy_json(const PolicyFigures& figures) {
  Json entry;
  entry["policy"] = sched::name_of(figures.policy);
  entry["hindsight"] = sched::has_hindsight(figures.policy);
  entry["completion_seconds"] = spread_json(figures.completion);
  entry["wait_seconds"] = spread_json(figures.wait);
  entry["slowdown"] = {{"mean", figures.slowdown_mean}, {"p99", figures.slowdown_p99}};
  entry["rho_worst"] = figures.rho_worst;
  entry["makespan_seconds"] = figures.makespan;
  entry["utilisation"] = figures.utilisation;
  entry["preemptions"] = figures.preemptions;
  entry["restart_gpu_seconds"] = whole_json(figures.restart_gpu_seconds);
  entry["deadlines_missed"] = figures.deadlines_missed;
  entry["tenants"] = Json::array();
  for (const sched::TenantFigures& tenant : figures.tenants) entry["tenants"].push_back(tenant_json(tenant));
  return entry;
}

Json beneficiary_json(const sched::Workload& workload, const sched::Beneficiary& beneficiary) {
  if (beneficiary.job) return {{"job", workload.job_names[static_cast<std::size_t>(*beneficiary.job)]}};
  if (beneficiary.tenant) return {{"tenant", workload.tenant(*beneficiary.tenant).name}};
  return nullptr;
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
  Json document;
  document["berth"] = 1;
  document["jobs"] = workload.jobs.size();
  document["gpus"] = workload.gpus;
  document["bound_makespan_seconds"] = sched::makespan_bound(workload);
  document["policies"] = Json::array();
  for (const PolicyFigures& figures : results) document["policies"].push_back(policy_json(figures));
  return document.dump() + "\n";
}

std::string schedule_log_line(const sched::Workload& workload, sched::Policy policy, const sched::LogEntry& entry) {
  Json line;
  line["policy"] = sched::name_of(policy);
  line["t_s"] = entry.time;
  line["type"] = type_name(entry.type);
  line["job"] = workload.job_names[static_cast<std::size_t>(entry.job)];
  if (entry.type == LogType::kPreempt) {
    line["for"] = beneficiary_json(workload, entry.beneficiary);
    line["reason"] = entry.reason;
  }
  return line.dump() + "\n";
}

}  // namespace berth::cli
