#include "surface/pages/insight_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

#include "surface/pages/report.h"

namespace berth::report {
namespace {

Json service_forecast_json(const measure::ServiceForecast& forecast) {
  return {{"low", series(forecast.low)},
          {"median", series(forecast.median)},
          {"high", series(forecast.high)},
          {"inside", or_null(forecast.inside_share)},
          {"wape", or_null(forecast.wape)}};
}

/// How a slice is used, unless it serves at its default point.
std::string how_used(const AssignSlice& assign) {
  if (assign.holding.role == Role::kRetraining) return "retraining";
  if (!assign.point) return "";
  const std::string point = fmt::format("batch {} × {}", assign.point->batch, assign.point->processes);
  return assign.point->variant == 0 ? point : fmt::format("variant {}, {}", assign.point->variant, point);
}

Json step_json(const Scenario& scenario, const char* verb, const Slice& slice, const AssignSlice* given) {
  Json services = Json::array();
  if (given != nullptr) {
    for (const ServiceId service : given->holding.services) services.push_back(service.index);
  }
  return Json::array({verb, profile_name(scenario.model_of(slice.gpu), slice.profile), slice.start, std::move(services),
                      given != nullptr ? how_used(*given) : std::string()});
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

Json steps_json(const Scenario& scenario, const measure::Decision& decision) {
  Json steps = Json::array();
  for (const SliceChange& step : decision.steps) {
    if (const auto* destroy = std::get_if<DestroySlice>(&step)) {
      steps.push_back(step_json(scenario, "destroy", destroy->slice, nullptr));
    } else if (const auto* create = std::get_if<CreateSlice>(&step)) {
      steps.push_back(step_json(scenario, "create", create->slice, given_after(decision, create->slice)));
    } else if (const auto& assign = std::get<AssignSlice>(step); !is_created(decision, assign.holding.slice)) {
      steps.push_back(step_json(scenario, "assign", assign.holding.slice, &assign));
    }
  }
  return steps;
}

Json decision_json(const Scenario& scenario, const measure::Decision& decision) {
  Json numbers = Json::array();
  for (const auto& [name, number] : decision.reason.numbers) numbers.push_back(Json::array({name, rounded(number)}));
  return Json::array({decision.gpu.index, (decision.acts_at - Instant()).to_seconds(), decision.reason.text,
                      std::move(numbers), steps_json(scenario, decision)});
}

}  // namespace

Json forecast_json(const measure::Insight& insight) {
  if (insight.forecasts.empty()) return {};
  Json leads = Json::array();
  for (const measure::LeadForecast& lead : insight.forecasts) {
    Json services = Json::array();
    for (const measure::ServiceForecast& forecast : lead.services) {
      if (services.size() == kReportServicesMax) break;
      services.push_back(service_forecast_json(forecast));
    }
    leads.push_back({{"seconds", lead.lead_seconds}, {"services", std::move(services)}});
  }
  return {{"share", rounded(insight.band_share)}, {"leads", std::move(leads)}};
}

Json decisions_json(const Scenario& scenario, const measure::Insight& insight) {
  Json shown = Json::array();
  for (const measure::Decision& decision : insight.decisions) {
    if (decision.gpu.index >= kReportGpusMax) continue;
    if (shown.size() == kReportDecisionsMax) break;
    shown.push_back(decision_json(scenario, decision));
  }
  return {{"count", insight.decision_count}, {"shown", std::move(shown)}};
}

}  // namespace berth::report
