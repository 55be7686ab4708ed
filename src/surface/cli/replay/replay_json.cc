#include "surface/cli/replay/replay_json.h"

#include <string_view>

#include "base/json/writer.h"

namespace berth::cli {
namespace {

using json::Writer;

/// Adds the members of figures; `figures` null: the same keys, all null.
void put_figures(Writer& json, const measure::Figures* figures) {
  using F = measure::Figures;
  const auto put = [&](std::string_view key, auto member) {
    if (figures == nullptr) json.member(key, nullptr);
    if (figures != nullptr) json.member(key, figures->*member);
  };
  const auto put_share = [&](std::string_view key, auto member) {
    if (figures == nullptr) json.member(key, nullptr);
    if (figures != nullptr) json.member(key, figures->utilisation.*member);
  };
  put("requests", &F::requests);
  put("in_time", &F::in_time);
  put("late", &F::late);
  put("dropped", &F::dropped);
  put("unfinished", &F::unfinished);
  put("goodput", &F::goodput);
  put("goodput_mean_of_services", &F::goodput_mean_of_services);
  put("goodput_worst_service", &F::goodput_worst_service);
  put("slo_attainment", &F::slo_attainment);
  put("mean_accuracy", &F::mean_accuracy);
  put("gpu_seconds", &F::gpu_seconds);
  put("gpu_seconds_fleet", &F::gpu_seconds_fleet);
  put("cost_micro_usd", &F::cost_micro_usd);
  put("cost_micro_usd_per_million_in_time", &F::cost_micro_usd_per_million_in_time);
  json.open_object("utilisation");
  using Utilisation = decltype(F::utilisation);
  put_share("allocated", &Utilisation::allocated);
  put_share("busy", &Utilisation::busy);
  put_share("effective", &Utilisation::effective);
  json.close_object();
  put("changes", &F::changes);
  put("lost_slice_seconds", &F::lost_slice_seconds);
  json.open_object("latency_ms");
  put("mean", &F::latency_mean_ms);
  put("p50", &F::latency_p50_ms);
  put("p99", &F::latency_p99_ms);
  json.close_object();
  if (figures == nullptr || !figures->cold_requests) return;  // only where a service has a warm pool
  put("cold_requests", &F::cold_requests);
  put("idle_micro_usd", &F::idle_micro_usd);
}

void put_bound(Writer& json, const bound::Bound& bound) {
  json.open_object("bound").member("goodput", bound.any.goodput);
  json.member("goodput_mean_of_services", bound.any.goodput_mean_of_services);
  json.member("goodput_without_sharing", bound.without_sharing.goodput);
  json.member("goodput_mean_of_services_without_sharing", bound.without_sharing.goodput_mean_of_services);
  json.close_object();
}

void write_service(Writer& json, const measure::ServiceFigures& service) {
  put_figures(json.open_object().member("name", service.name), &service.figures);
  json.close_object();
}

void write_policy(Writer& json, const measure::PolicyResult& policy, bool has_timings) {
  json.open_object().member("name", policy.name).member("hindsight", policy.is_hindsight);
  if (policy.fleet) {
    json.member("gpus_fleet", policy.fleet->gpus).member("cost_micro_usd_fleet", policy.fleet->cost_micro_usd);
  }
  put_figures(json, policy.infeasible ? nullptr : &policy.figures);
  json.open_list("services");
  if (!policy.infeasible) {
    for (const measure::ServiceFigures& service : policy.services) write_service(json, service);
  }
  json.close_list();
  if (policy.infeasible) json.member("infeasible", *policy.infeasible);
  if (!policy.how.empty()) json.member("how", policy.how);
  if (!policy.ignores.empty()) json.list("ignores", constraint_names(policy.ignores));
  if (!policy.notes.empty()) json.list("notes", policy.notes);
  if (has_timings) json.member("wall_seconds", policy.wall_seconds);
  json.close_object();
}

}  // namespace

std::string replay_json(const study::ReplayResult& result, bool has_timings) {
  Writer json;
  json.open_object().member("berth", 1).member("scenario", result.scenario).member("seed", result.seed);
  json.member("simulated_seconds", result.simulated_seconds);
  json.member("cost_micro_usd_fleet", result.cost_micro_usd_fleet);
  put_bound(json, result.bound);
  json.list("policies", result.policies,
            [&](Writer& to, const measure::PolicyResult& policy) { write_policy(to, policy, has_timings); });
  return json.close_object().take_line();
}

}  // namespace berth::cli
