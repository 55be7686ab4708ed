#include "surface/pages/page_figures.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <vector>

#include "surface/pages/bound_distance.h"
#include "surface/pages/insight_figures.h"
#include "surface/pages/page_json.h"
#include "surface/pages/report.h"

namespace berth::report {
namespace {

using json::Writer;

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

void write_fleet_entry(Writer& json, const FleetEntry& entry) {
  const auto& price = entry.usd_per_gpu_hour;
  json.open_object().member("gpu", entry.model.name).member("count", entry.count);
  json.member("usd_per_gpu_hour", price ? std::optional(price->to_double()) : std::nullopt).close_object();
}

void write_gpus(Writer& json, const Scenario& scenario) {
  json.open_list();
  const std::uint32_t count = std::min(scenario.gpu_count(), kReportGpusMax);
  for (std::uint32_t index = 0; index < count; ++index) {
    const GpuModel& model = scenario.model_of(GpuId{index});
    json.open_object().member("model", model.name).member("units", std::max(1, model.units)).close_object();
  }
  json.close_list();
}

/// The timeline of the first policy that ran: arrivals are the same under every policy.
const measure::Timeline* any_timeline(const study::ReplayResult& result) {
  for (const measure::PolicyResult& policy : result.policies) {
    if (!policy.infeasible) return &policy.timeline;
  }
  return nullptr;
}

void write_services(Writer& json, const Scenario& scenario, const study::ReplayResult& result) {
  const std::vector<std::string> tenants = tenants_of(scenario);
  const measure::Timeline* timeline = any_timeline(result);
  json.open_list();
  for (std::size_t i = 0; i < scenario.services.size(); ++i) {
    const ServiceSpec& service = scenario.services[i];
    json.open_object().member("name", service.name).member("tenant", index_in(tenants, service.tenant));
    json.member("target_ms", rounded(service.target_ms.to_double()));
    const bool has_arrivals = i < shown_services(scenario) && timeline != nullptr && i < timeline->services.size();
    if (has_arrivals) write_series(json.key("arrivals"), timeline->services[i].arrivals_per_second);
    json.close_object();
  }
  json.close_list();
}

void write_figures(Writer& json, const measure::Figures& f) {
  json.open_object().member("requests", f.requests).member("in_time", f.in_time).member("late", f.late);
  json.member("dropped", f.dropped).member("unfinished", f.unfinished);
  json.member("goodput", f.goodput).member("mean", f.goodput_mean_of_services);
  json.member("worst", f.goodput_worst_service).member("attainment", f.slo_attainment);
  json.member("accuracy", f.mean_accuracy).member("gpu_seconds", f.gpu_seconds);
  json.member("cost", f.cost_micro_usd).member("cost_per_million", f.cost_micro_usd_per_million_in_time);
  json.member("allocated", f.utilisation.allocated).member("busy", f.utilisation.busy);
  json.member("effective", f.utilisation.effective).member("changes", f.changes);
  json.member("lost_slice_seconds", f.lost_slice_seconds);
  json.member("p50", f.latency_p50_ms).member("p99", f.latency_p99_ms).close_object();
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
void write_span(Writer& json, const Scenario& scenario, const measure::SliceSpan& span) {
  const GpuModel& model = scenario.model_of(span.slice.gpu);
  const ProfileId profile = span.slice.profile;
  const int length = profile.is_full() ? std::max(1, model.units) : model.profiles[profile.index].length;
  json.open_list().value(span.slice.gpu.index).value(span.slice.start).value(length);
  json.value(profile_name(model, profile)).value(state_name(span.state));
  json.list(span.services, [](Writer& to, ServiceId service) { to.value(service.index); });
  json.value((span.from - Instant()).to_seconds()).value((span.until - Instant()).to_seconds()).close_list();
}

/// Returns whether some spans are left out.
bool write_spans(Writer& json, const Scenario& scenario, const measure::Timeline& timeline) {
  std::size_t written = 0;
  json.open_list();
  for (const measure::SliceSpan& span : timeline.spans) {
    if (span.slice.gpu.index >= kReportGpusMax) continue;
    if (written++ == kReportSpansMax) break;
    write_span(json, scenario, span);
  }
  json.close_list();
  return timeline.are_spans_cut || written > kReportSpansMax;
}

void write_timeline(Writer& json, const Scenario& scenario, const measure::Timeline& timeline) {
  const bool by_service = scenario.objective == Objective::kServices;
  write_series(json.open_object().key("goodput"), by_service ? timeline.goodput_mean_of_services : timeline.goodput);
  const auto services = timeline.services | std::views::take(shown_services(scenario));
  json.list("capacity", services,
            [](Writer& to, const auto& service) { write_series(to, service.capacity_per_second); });
  json.list("service_goodput", services, [](Writer& to, const auto& service) { write_series(to, service.goodput); });
  const bool is_cut = write_spans(json.key("spans"), scenario, timeline);
  json.member("spans_cut", is_cut).close_object();
}

void write_policy(Writer& json, const Scenario& scenario, const study::ReplayResult& result,
                  const measure::PolicyResult& policy) {
  json.open_object().member("name", policy.name).member("how", policy.how).member("hindsight", policy.is_hindsight);
  json.list("ignores", constraint_names(policy.ignores)).list("notes", policy.notes);
  json.member("infeasible", policy.infeasible);
  if (!policy.infeasible) {
    write_figures(json.key("figures"), policy.figures);
    json.list("services", policy.services, [](Writer& to, const auto& service) { write_figures(to, service.figures); });
    write_timeline(json.key("timeline"), scenario, policy.timeline);
    json.member("shares", policy.timeline.shares_slices).member("bound", bound_distance(result, policy));
    write_forecast(json.key("forecast"), policy.insight);
    write_decisions(json.key("decisions"), scenario, policy.insight);
  }
  json.close_object();
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
  Writer json;
  json.open_object().member("scenario", result.scenario).member("seed", result.seed);
  json.member("seconds", result.simulated_seconds);
  json.member("objective", scenario.objective == Objective::kServices ? "services" : "requests");
  json.member("fleet_cost", result.cost_micro_usd_fleet);
  write_bound(json.key("bound"), result);
  json.list("fleet", scenario.fleet, write_fleet_entry).member("gpu_count", scenario.gpu_count());
  write_gpus(json.key("gpus"), scenario);
  json.list("tenants", tenants_of(scenario));
  write_services(json.key("services"), scenario, result);
  json.member("bin_seconds", timeline != nullptr ? timeline->bin.to_seconds() : 0.0);
  json.list("policies", result.policies,
            [&](Writer& to, const measure::PolicyResult& policy) { write_policy(to, scenario, result, policy); });
  return without_tags(json.close_object().take());
}

}  // namespace berth::report
