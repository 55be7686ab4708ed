#include "engine/loop/plan_json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/core/overloaded.h"
#include "base/json/writer.h"
#include "tier/enforce/choice_json.h"

namespace berth {
namespace {

using json::Writer;

void write_reason(Writer& json, const Scenario& scenario, const PlanRecord& record,
                  const planner::ReasonedStep& reasoned) {
  json.open_object();
  if (reasoned.step.type == planner::StepType::kKeep) {
    json.member("gain", reasoned.kept_worth).close_object();
    return;
  }
  const auto& reason = reasoned.reason;
  if (reason) json.member("gain", reason->gain).member("gain_slack", reason->gain_slack);
  json.member("gain_of_gpu", reasoned.of_gpu->gain).member("cost_of_change", reasoned.of_gpu->cost);
  json.member("of", reason ? "action" : "gpu");
  if (reason) {
    json.open_object("rejected").member("what", instead_text(scenario, record, *reason));
    json.member("objective", reason->gain ? std::optional(reason->objective_instead) : std::nullopt).close_object();
  }
  json.close_object();
}

void put_reasons(Writer& json, const planner::Reasons& reasons) {
  json.open_object("reasons").member("computed", reasons.computed);
  json.member("not_computed", changing_count(reasons) - reasons.computed).member("what_ifs", reasons.what_ifs);
  json.member("are_largest", reasons.are_largest).close_object();
}

void write_step(Writer& json, const Scenario& scenario, const PlanAnswer& answer,
                const planner::ReasonedStep& reasoned) {
  const PlanRecord& record = answer.record;
  const planner::Step& step = reasoned.step;
  const planner::Piece& piece = step.piece;
  const GpuId gpu{static_cast<std::uint32_t>(step.gpu)};
  const Slice slice = record.frame.slice_at(gpu, piece.site);
  const bool is_held = piece.service != planner::kNoService;
  const ServiceSpec* holder = is_held ? &scenario.services[static_cast<std::size_t>(piece.service)] : nullptr;
  json.open_object().member("gpu", gpu.index).member("type", word_of(step.type));
  json.member("profile", profile_name(scenario.model_of(gpu), slice.profile)).member("start", slice.start);
  const std::string_view role = piece.use == planner::kRetraining ? "retraining" : "inference";
  json.member("service", is_held ? std::optional(holder->name) : std::nullopt);
  json.member("role", is_held ? std::optional(role) : std::nullopt);
  if (is_held && piece.use > 0) {
    json.member("variant", holder->variants[static_cast<std::size_t>(piece.use) - 1].name);
  }
  json.member("at_second", record.acts_at.second() + step.slot);
  if (is_predicted(scenario, answer, step)) json.member("predicted", true);
  write_reason(json.key("reason"), scenario, record, reasoned);
  json.close_object();
}

void write_slice_step(Writer& json, const Scenario& scenario, const PlanRecord& record,
                      const std::optional<planner::SliceStep>& step) {
  if (!step) {
    json.value(nullptr);
    return;
  }
  const auto model = static_cast<std::size_t>(step->model);
  const auto& sites = record.problem.models[model].sites;
  const auto site = std::ranges::find(sites, step->kind, &planner::Site::kind);
  const auto& gpus = record.problem.gpus;
  const auto gpu = std::ranges::find(gpus, step->model, &planner::GpuTerms::model) - gpus.begin();
  const GpuModel& name = scenario.model_of({static_cast<std::uint32_t>(gpu)});
  json.open_object().member("gpu_model", name.name).member("profile", profile_name(name, site->profile));
  json.member("requests_per_second", step->requests_per_second).member("change", step->change).close_object();
}

/// The constraints of a proven conflict; none if none is proven.
void put_conflict(Writer& json, const Scenario& scenario, const PlanRecord& record) {
  const auto* conflict = record.unmet_floors ? std::get_if<ProvenConflict>(&*record.unmet_floors) : nullptr;
  json.open_list("conflict");
  if (conflict != nullptr) {
    for (const ConstraintId& id : conflict->constraints) json.value(constraint_name(scenario, id));
  }
  json.close_list();
}

/// The reason for unmet floors; null if all floors are met.
void put_unmet_floors(Writer& json, const PlanRecord& record) {
  json.key("floors_unmet");
  if (!record.unmet_floors) {
    json.value(nullptr);
    return;
  }
  json.open_object();
  std::visit(Overloaded{[&](const ProvenConflict& conflict) {
                          json.member("because", "conflict").member("minimal", conflict.is_minimal);
                        },
                        [&](const ChangeUnderWay& change) {
                          json.member("because", "change_under_way");
                          json.member("until_second", (change.until - Instant()).to_seconds());
                        },
                        [&](const FloorsNotDecided&) { json.member("because", "not_decided"); }},
             *record.unmet_floors);
  json.close_object();
}

void write_share(Writer& json, const Scenario& scenario, const PlanRecord& record, std::size_t service,
                 const planner::ServiceShare& share) {
  const planner::ServiceTerms& terms = record.problem.services[service];
  json.open_object().member("name", scenario.services[service].name);
  json.member("forecast_requests_per_second", share.forecast);
  json.member("capacity_requests_per_second", share.capacity).member("served_requests_per_second", share.served);
  json.member("value_of_an_answer", terms.value);
  json.member("floor_requests_per_second", terms.floor_rate > 0 ? std::optional(terms.floor_rate) : std::nullopt);
  json.member("value", share.value);
  write_slice_step(json.key("one_slice_more"), scenario, record, share.one_more);
  write_slice_step(json.key("one_slice_less"), scenario, record, share.one_less);
  json.close_object();
}

}  // namespace

std::string plan_json(const Scenario& scenario, const PlanAnswer& answer) {
  const PlanRecord& record = answer.record;
  const double gap = gap_of(record.answer);
  Writer json(2);
  json.open_object().member("berth", 1).member("scenario", scenario.name).member("second", record.made_at.second());
  json.member("objective", record.answer.objective);
  json.member("bound", std::max(record.answer.bound, record.answer.objective));
  json.member("gap", gap).member("proven", gap == 0).member("nodes", record.answer.nodes);
  if (answer.reasons.better_found) json.member("better_found", *answer.reasons.better_found);
  json.list("actions", answer.reasons.steps,
            [&](Writer&, const planner::ReasonedStep& step) { write_step(json, scenario, answer, step); });
  put_reasons(json, answer.reasons);
  if (!answer.tiers.empty()) {
    json.open_list("tiers");
    for (const TierChoice& choice : answer.tiers) {
      json.open_object().member("service", scenario.services[choice.service.index].name);
      json.member("second", choice.at.second());
      tier::put_choice(json, choice);
      json.close_object();
    }
    json.close_list();
  }
  json.member("promised_gain", promised_gain_of(record)).member("expires_second", record.expires_at.second());
  put_conflict(json, scenario, record);
  put_unmet_floors(json, record);
  if (!answer.shares.empty()) {
    json.open_list("services");
    for (std::size_t i = 0; i < answer.shares.size(); ++i) write_share(json, scenario, record, i, answer.shares[i]);
    json.close_list();
  }
  if (answer.solve_ms) json.member("solve_ms", *answer.solve_ms);
  if (answer.reasons_ms) json.member("reasons_ms", *answer.reasons_ms);
  return json.close_object().take_line();
}

}  // namespace berth
