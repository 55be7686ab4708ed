#include "surface/pages/page_figures.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "surface/pages/bound_distance.h"
#include "surface/pages/insight_figures.h"
#include "surface/pages/page_json.h"
#include "surface/pages/report.h"

namespace berth::report {
namespace {

std::vector<std::string> tenants_of(const Scenario& scenario) {
  std::vector<std::string> tenants;
  for (const ServiceSpec& service : scenario.services) {
    if (std::find(tenants.begin(), tenants.end(), service.tenant) == tenants.end()) tenants.push_back(service.tenant);
  }
  return tenants;
}

std::size_t index_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::size_t shown_services(const Scenario& scenario) { return std::min(scenario.services.size(), kReportServicesMax); }

Json fleet_json(const Scenario& scenario) {
  Json fleet = Json::array();
  for (const FleetEntry& entry : scenario.fleet) {
    fleet.push_back(
        {{"gpu", entry.model.name},
         {"count", entry.count},
         {"usd_per_gpu_hour", entry.usd_per_gpu_hour ? Json(entry.usd_per_gpu_hour->to_double()) : Json()}});
  }
  return fleet;
}

Json gpus_json(const Scenario& scenario) {
  Json gpus = Json::array();
  const std::uint32_t count = std::min(scenario.gpu_count(), kReportGpusMax);
  for (std::uint32_t index = 0; index < count; ++index) {
    const GpuModel& model = scenario.model_of(GpuId{index});
    gpus.push_back({{"model", model.name}, {"units", std::max(1, model.units)}});
  }
  return gpus;
}

/// The timeline of the first policy that ran: arrivals are the same under every policy.
const measure::Timeline* any_timeline(const study::ReplayResult& result) {
  for (const measure::PolicyResult& policy : result.policies) {
    if (!policy.infeasible) return &policy.timeline;
  }
  return nullptr;
}

Json services_json(const Scenario& scenario, const study::ReplayResult& result) {
  const std::vector<std::string> tenants = tenants_of(scenario);
  const measure::Timeline* timeline = any_timeline(result);
  Json services = Json::array();
  for (std::size_t i = 0; i < scenario.services.size(); ++i) {
    const ServiceSpec& service = scenario.services[i];
    Json entry = {{"name", service.name},
                  {"tenant", index_in(tenants, service.tenant)},
                  {"target_ms", rounded(service.target_ms.to_double())}};
    const bool has_arrivals = i < shown_services(scenario) && timeline != nullptr && i < timeline->services.size();
    if (has_arrivals) entry["arrivals"] = series(timeline->services[i].arrivals_per_second);
    services.push_back(std::move(entry));
  }
  return services;
}

Json figures_json(const measure::Figures& f) {
  return {{"requests", f.requests},
          {"in_time", f.in_time},
          {"late", f.late},
          {"dropped", f.dropped},
          {"unfinished", f.unfinished},
          {"goodput", or_null(f.goodput)},
          {"mean", or_null(f.goodput_mean_of_services)},
          {"worst", or_null(f.goodput_worst_service)},
          {"attainment", or_null(f.slo_attainment)},
          {"accuracy", or_null(f.mean_accuracy)},
          {"gpu_seconds", f.gpu_seconds},
          {"cost", or_null(f.cost_micro_usd)},
          {"cost_per_million", or_null(f.cost_micro_usd_per_million_in_time)},
          {"allocated", f.utilisation.allocated},
          {"busy", f.utilisation.busy},
          {"effective", f.utilisation.effective},
          {"changes", f.changes},
          {"lost_slice_seconds", f.lost_slice_seconds},
          {"p50", or_null(f.latency_p50_ms)},
          {"p99", or_null(f.latency_p99_ms)}};
}

const char* state_name(measure::SliceSpan::State state) {
  switch (state) {
    case measure::SliceSpan::State::kIdle:
      return "idle";
    case measure::SliceSpan::State::kChanging:
      return "changing";
    case measure::SliceSpan::State::kServing:
      return "serving";
    case measure::SliceSpan::State::kRetraining:
      return "retraining";
  }
  return "idle";
}

/// [gpu, start, length, profile, state, [service, ..], from_s, until_s]
Json span_json(const Scenario& scenario, const measure::SliceSpan& span) {
  const GpuModel& model = scenario.model_of(span.slice.gpu);
  const ProfileId profile = span.slice.profile;
  const int length = profile.is_full() ? std::max(1, model.units) : model.profiles[profile.index].length;
  Json services = Json::array();
  for (const ServiceId service : span.services) services.push_back(service.index);
  return Json::array({span.slice.gpu.index, span.slice.start, length, profile_name(model, profile),
                      state_name(span.state), std::move(services), (span.from - Instant()).to_seconds(),
                      (span.until - Instant()).to_seconds()});
}

Json timeline_json(const Scenario& scenario, const measure::Timeline& timeline) {
  Json spans = Json::array();
  bool is_cut = timeline.are_spans_cut;
  for (const measure::SliceSpan& span : timeline.spans) {
    if (span.slice.gpu.index >= kReportGpusMax) continue;
    if (spans.size() == kReportSpansMax) {
      is_cut = true;
      break;
    }
    spans.push_back(span_json(scenario, span));
  }
  Json capacity = Json::array();
  Json goodput = Json::array();
  for (std::size_t i = 0; i < std::min(timeline.services.size(), shown_services(scenario)); ++i) {
    capacity.push_back(series(timeline.services[i].capacity_per_second));
    goodput.push_back(series(timeline.services[i].goodput));
  }
  const bool by_service = scenario.objective == Objective::kServices;
  return {{"goodput", series(by_service ? timeline.goodput_mean_of_services : timeline.goodput)},
          {"capacity", std::move(capacity)},
          {"service_goodput", std::move(goodput)},
          {"spans", std::move(spans)},
          {"spans_cut", is_cut}};
}

Json policy_json(const Scenario& scenario, const study::ReplayResult& result, const measure::PolicyResult& policy) {
  Json entry = {{"name", policy.name},
                {"how", policy.how},
                {"hindsight", policy.is_hindsight},
                {"ignores", constraint_names(policy.ignores)},
                {"notes", policy.notes},
                {"infeasible", or_null(policy.infeasible)}};
  if (policy.infeasible) return entry;
  entry["figures"] = figures_json(policy.figures);
  Json services = Json::array();
  for (const measure::ServiceFigures& service : policy.services) services.push_back(figures_json(service.figures));
  entry["services"] = std::move(services);
  entry["timeline"] = timeline_json(scenario, policy.timeline);
  entry["shares"] = policy.timeline.shares_slices;
  entry["bound"] = bound_distance(result, policy);
  entry["forecast"] = forecast_json(policy.insight);
  entry["decisions"] = decisions_json(scenario, policy.insight);
  return entry;
}

/// Inside a script element only "<" can begin a tag that ends it.
std::string without_tags(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string page_figures(const Scenario& scenario, const study::ReplayResult& result) {
  const measure::Timeline* timeline = any_timeline(result);
  Json policies = Json::array();
  for (const measure::PolicyResult& policy : result.policies) policies.push_back(policy_json(scenario, result, policy));
  const Json page = {{"scenario", result.scenario},
                     {"seed", result.seed},
                     {"seconds", result.simulated_seconds},
                     {"objective", scenario.objective == Objective::kServices ? "services" : "requests"},
                     {"fleet_cost", or_null(result.cost_micro_usd_fleet)},
                     {"bound", bound_json(result)},
                     {"fleet", fleet_json(scenario)},
                     {"gpu_count", scenario.gpu_count()},
                     {"gpus", gpus_json(scenario)},
                     {"tenants", tenants_of(scenario)},
                     {"services", services_json(scenario, result)},
                     {"bin_seconds", timeline != nullptr ? timeline->bin.to_seconds() : 0.0},
                     {"policies", std::move(policies)}};
  return without_tags(page.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace berth::report
