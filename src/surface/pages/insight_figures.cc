#include "surface/pages/insight_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <variant>

#include "surface/pages/report.h"

namespace berth::report {
namespace {

using json::Writer;

void write_service_forecast(Writer& json, const measure::ServiceForecast& forecast) {
  write_series(json.open_object().key("low"), forecast.low);
  write_series(json.key("median"), forecast.median);
  write_series(json.key("high"), forecast.high);
  json.member("inside", forecast.inside_share).member("wape", forecast.wape).close_object();
}

/// How a slice is used, unless it serves at its default point.
std::string how_used(const AssignSlice& assign) {
  if (assign.holding.role == Role::kRetraining) return "retraining";
  if (!assign.point) return "";
  const std::string point = fmt::format("batch {} × {}", assign.point->batch, assign.point->processes);
  return assign.point->variant == 0 ? point : fmt::format("variant {}, {}", assign.point->variant, point);
}

/// `given`: the assignment of the slice; null if it is not assigned.
void write_step(Writer& json, const Scenario& scenario, const char* verb, const Slice& slice,
                const AssignSlice* given) {
  json.open_list().value(verb).value(profile_name(scenario.model_of(slice.gpu), slice.profile)).value(slice.start);
  json.open_list();
  if (given != nullptr) {
    for (const ServiceId service : given->holding.services) json.value(service.index);
  }
  json.close_list().value(given != nullptr ? how_used(*given) : std::string()).close_list();
}

/// The assignment of a slice that this decision creates; both are shown as one step.
const AssignSlice* given_after(const measure::Decision& decision, const Slice& created) {
  for (const SliceChange& step : decision.steps) {
    const auto* assign = std::get_if<AssignSlice>(&step);
    if (assign != nullptr && assign->holding.slice == created) return assign;
  }
  return nullptr;
}

bool is_created(const measure::Decision& decision, const Slice& slice) {
  return std::ranges::any_of(decision.steps, [&](const SliceChange& step) {
    const auto* create = std::get_if<CreateSlice>(&step);
    return create != nullptr && create->slice == slice;
  });
}

void write_change(Writer& json, const Scenario& scenario, const measure::Decision& decision,
                  const SliceChange& change) {
  if (const auto* destroy = std::get_if<DestroySlice>(&change)) {
    write_step(json, scenario, "destroy", destroy->slice, nullptr);
  } else if (const auto* create = std::get_if<CreateSlice>(&change)) {
    write_step(json, scenario, "create", create->slice, given_after(decision, create->slice));
  } else if (const auto& assign = std::get<AssignSlice>(change); !is_created(decision, assign.holding.slice)) {
    write_step(json, scenario, "assign", assign.holding.slice, &assign);
  }
}

void write_decision(Writer& json, const Scenario& scenario, const measure::Decision& decision) {
  json.open_list().value(decision.gpu.index).value((decision.acts_at - Instant()).to_seconds());
  json.value(decision.reason.text).list(decision.reason.numbers, [](Writer& to, const auto& named) {
    to.open_list().value(named.first).value(rounded(named.second)).close_list();
  });
  json.list(decision.steps, [&](Writer& to, const SliceChange& step) { write_change(to, scenario, decision, step); });
  json.close_list();
}

}  // namespace

void write_forecast(Writer& json, const measure::Insight& insight) {
  if (insight.forecasts.empty()) {
    json.value(nullptr);
    return;
  }
  json.open_object().member("share", rounded(insight.band_share));
  json.list("leads", insight.forecasts, [](Writer& to, const measure::LeadForecast& lead) {
    to.open_object().member("seconds", lead.lead_seconds);
    to.list("services", lead.services | std::views::take(kReportServicesMax), write_service_forecast).close_object();
  });
  json.close_object();
}

void write_decisions(Writer& json, const Scenario& scenario, const measure::Insight& insight) {
  json.open_object().member("count", insight.decision_count).open_list("shown");
  std::size_t shown = 0;
  for (const measure::Decision& decision : insight.decisions) {
    if (decision.gpu.index >= kReportGpusMax) continue;
    if (shown++ == kReportDecisionsMax) break;
    write_decision(json, scenario, decision);
  }
  json.close_list().close_object();
}

}  // namespace berth::report
