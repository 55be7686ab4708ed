#include "engine/loop/plan_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"
#include "base/json/text.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

Json reason_json(const Scenario& scenario, const PlanRecord& record, const planner::ReasonedStep& reasoned) {
  if (reasoned.step.type == planner::StepType::kKeep) return {{"gain", reasoned.kept_worth}};
  Json json;
  if (reasoned.reason) {
    json["gain"] = json::or_null(reasoned.reason->gain);
    json["gain_slack"] = json::or_null(reasoned.reason->gain_slack);
  }
  json["gain_of_gpu"] = json::or_null(reasoned.of_gpu->gain);
  json["cost_of_change"] = reasoned.of_gpu->cost;
  json["of"] = reasoned.reason ? "action" : "gpu";
  if (!reasoned.reason) return json;
  json["rejected"] = {{"what", instead_text(scenario, record, *reasoned.reason)},
                      {"objective", reasoned.reason->gain ? Json(reasoned.reason->objective_instead) : Json()}};
  return json;
}

Json reasons_json(const planner::Reasons& reasons) {
  return {{"computed", reasons.computed},
          {"not_computed", changing_count(reasons) - reasons.computed},
          {"what_ifs", reasons.what_ifs},
          {"are_largest", reasons.are_largest}};
}

Json step_json(const Scenario& scenario, const PlanRecord& record, const planner::ReasonedStep& reasoned) {
  const planner::Step& step = reasoned.step;
  const GpuId gpu{static_cast<std::uint32_t>(step.gpu)};
  const Slice slice = record.frame.slice_at(gpu, step.piece.site);
  Json entry;
  entry["gpu"] = gpu.index;
  entry["type"] = word_of(step.type);
  entry["profile"] = profile_name(scenario.model_of(gpu), slice.profile);
  entry["start"] = slice.start;
  const bool is_held = step.piece.service != planner::kNoService;
  entry["service"] = is_held ? Json(scenario.services[static_cast<std::size_t>(step.piece.service)].name) : Json();
  entry["role"] = is_held ? Json(step.piece.use == planner::kRetraining ? "retraining" : "inference") : Json();
  if (is_held && step.piece.use > 0) {
    entry["variant"] = scenario.services[static_cast<std::size_t>(step.piece.service)]
                           .variants[static_cast<std::size_t>(step.piece.use) - 1]
                           .name;
  }
  entry["at_second"] = record.acts_at.second() + step.slot;
  entry["reason"] = reason_json(scenario, record, reasoned);
  return entry;
}

Json slice_step_json(const Scenario& scenario, const PlanRecord& record,
                     const std::optional<planner::SliceStep>& step) {
  if (!step) return {};
  const auto model = static_cast<std::size_t>(step->model);
  const auto& sites = record.problem.models[model].sites;
  const auto site = std::ranges::find(sites, step->kind, &planner::Site::kind);
  const auto& gpus = record.problem.gpus;
  const auto gpu = std::ranges::find(gpus, step->model, &planner::GpuTerms::model) - gpus.begin();
  const GpuModel& name = scenario.model_of({static_cast<std::uint32_t>(gpu)});
  return {{"gpu_model", name.name},
          {"profile", profile_name(name, site->profile)},
          {"requests_per_second", step->requests_per_second},
          {"change", step->change}};
}

/// The constraints of a proven conflict; empty if none is proven.
Json conflict_json(const Scenario& scenario, const PlanRecord& record) {
  Json names = Json::array();
  if (!record.unmet_floors) return names;
  const auto* conflict = std::get_if<ProvenConflict>(&*record.unmet_floors);
  if (conflict == nullptr) return names;
  for (const ConstraintId& id : conflict->constraints) names.push_back(constraint_name(scenario, id));
  return names;
}

/// The reason for unmet floors; null if all floors are met.
Json unmet_floors_json(const PlanRecord& record) {
  if (!record.unmet_floors) return {};
  return std::visit(Overloaded{[](const ProvenConflict& conflict) {
                                 return Json{{"because", "conflict"}, {"minimal", conflict.is_minimal}};
                               },
                               [](const ChangeUnderWay& change) {
                                 return Json{{"because", "change_under_way"},
                                             {"until_second", (change.until - Instant()).to_seconds()}};
                               },
                               [](const FloorsNotDecided&) { return Json{{"because", "not_decided"}}; }},
                    *record.unmet_floors);
}

Json share_json(const Scenario& scenario, const PlanRecord& record, std::size_t service,
                const planner::ServiceShare& share) {
  const planner::ServiceTerms& terms = record.problem.services[service];
  return {{"name", scenario.services[service].name},
          {"forecast_requests_per_second", share.forecast},
          {"capacity_requests_per_second", share.capacity},
          {"served_requests_per_second", share.served},
          {"value_of_an_answer", terms.value},
          {"floor_requests_per_second", terms.floor_rate > 0 ? Json(terms.floor_rate) : Json()},
          {"value", share.value},
          {"one_slice_more", slice_step_json(scenario, record, share.one_more)},
          {"one_slice_less", slice_step_json(scenario, record, share.one_less)}};
}

}  // namespace

std::string plan_json(const Scenario& scenario, const PlanAnswer& answer) {
  const PlanRecord& record = answer.record;
  const double gap = gap_of(record.answer);
  Json document;
  document["berth"] = 1;
  document["scenario"] = scenario.name;
  document["second"] = record.made_at.second();
  document["objective"] = record.answer.objective;
  document["bound"] = std::max(record.answer.bound, record.answer.objective);
  document["gap"] = gap;
  document["proven"] = gap == 0;
  document["nodes"] = record.answer.nodes;
  if (answer.reasons.better_found) document["better_found"] = *answer.reasons.better_found;
  document["actions"] = Json::array();
  for (const planner::ReasonedStep& step : answer.reasons.steps) {
    document["actions"].push_back(step_json(scenario, record, step));
  }
  document["reasons"] = reasons_json(answer.reasons);
  document["promised_gain"] = promised_gain_of(record);
  document["expires_second"] = record.expires_at.second();
  document["conflict"] = conflict_json(scenario, record);
  document["floors_unmet"] = unmet_floors_json(record);
  if (!answer.shares.empty()) {
    Json services = Json::array();
    for (std::size_t i = 0; i < answer.shares.size(); ++i) {
      services.push_back(share_json(scenario, record, i, answer.shares[i]));
    }
    document["services"] = std::move(services);
  }
  if (answer.solve_ms) document["solve_ms"] = *answer.solve_ms;
  if (answer.reasons_ms) document["reasons_ms"] = *answer.reasons_ms;
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth
