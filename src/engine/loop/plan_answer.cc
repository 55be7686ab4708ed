#include "engine/loop/plan_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <variant>

#include "base/core/ensure.h"

namespace berth {

namespace {

constexpr double kRounding = 1e-10;  ///< relative difference of an objective between two orders of summation

}  // namespace

double gap_of(const planner::Answer& answer) {
  const double difference = std::max(0.0, answer.bound - answer.objective);
  if (difference <= kRounding * std::abs(answer.bound)) return 0;
  return difference / std::max(std::abs(answer.bound), 1e-300);
}

double promised_gain_of(const PlanRecord& record) {
  const double gain = record.answer.objective - record.stay_objective;
  return std::abs(gain) <= kRounding * std::abs(record.stay_objective) ? 0 : gain;
}

std::string slice_text(const Scenario& scenario, const PlanRecord& record, planner::GpuIndex gpu,
                       planner::SiteIndex site) {
  const GpuId id{static_cast<std::uint32_t>(gpu)};
  const Slice slice = record.frame.slice_at(id, site);
  return fmt::format("{}@{}", profile_name(scenario.model_of(id), slice.profile), slice.start);
}

std::string_view word_of(planner::StepType type) {
  switch (type) {
    case planner::StepType::kDestroy:
      return "destroy";
    case planner::StepType::kCreate:
      return "create";
    case planner::StepType::kAssign:
      return "assign";
    case planner::StepType::kKeep:
      return "keep";
  }
  return "";
}

bool is_predicted(const Scenario& scenario, const PlanAnswer& answer, const planner::Step& step) {
  const bool has_service = step.piece.service != planner::kNoService && step.piece.use != planner::kRetraining;
  if (answer.seen_tiers.empty() || !has_service) return false;
  const TierRule& rule = answer.seen_tiers[static_cast<std::size_t>(step.piece.service)];
  const std::string& model = scenario.model_of({static_cast<std::uint32_t>(step.gpu)}).name;
  return std::ranges::binary_search(rule.predicted_on, model);
}

std::size_t changing_count(const planner::Reasons& reasons) {
  return static_cast<std::size_t>(std::ranges::count_if(
      reasons.steps, [](const planner::ReasonedStep& each) { return each.step.type != planner::StepType::kKeep; }));
}

std::vector<planner::ReasonedStep> steps_of_pins(const PlanRecord& record, const Plan& plan) {
  std::vector<planner::ReasonedStep> steps;
  for (const Action& action : plan.actions) {
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign == nullptr) continue;
    const Slice& slice = assign->holding.slice;
    const std::vector<planner::Change>& changes = record.answer.schedule.gpus[slice.gpu.index];
    if (!changes.empty() && changes.front().slot == 0) continue;  // the schedule has it
    const std::optional<planner::SiteIndex> site = record.frame.site_of(slice);
    ENSURE(site && assign->holding.services.size() == 1);
    const int variant = assign->point ? assign->point->variant : 0;
    const planner::Piece piece{.site = *site,
                               .service = planner::ServiceIndex(assign->holding.services.front().index),
                               .use = assign->holding.role == Role::kRetraining ? planner::kRetraining : variant};
    for (const planner::StepType type : {planner::StepType::kCreate, planner::StepType::kAssign}) {
      planner::ReasonedStep& added = steps.emplace_back();
      added.step = {.type = type, .gpu = planner::GpuIndex(slice.gpu.index), .slot = {}, .piece = piece};
      added.of_gpu.emplace();
      added.reason.emplace().gain.reset();
    }
  }
  return steps;
}

std::string instead_text(const Scenario& scenario, const PlanRecord& record, const planner::StepReason& reason,
                         std::size_t steps_max) {
  if (!reason.gain) return "nothing: floors, pins or budgets need it";
  if (reason.instead.empty()) return "leave this GPU as it is";
  std::string text;
  const std::span shown = std::span(reason.instead).first(std::min(steps_max, reason.instead.size()));
  for (const planner::Step& step : shown) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word_of(step.type),
                        slice_text(scenario, record, step.gpu, step.piece.site));
    if (step.type == planner::StepType::kAssign && step.piece.service != planner::kNoService) {
      text += fmt::format(" to {}{}", scenario.services[static_cast<std::size_t>(step.piece.service)].name,
                          step.piece.use == planner::kRetraining ? " for retraining" : "");
    }
    text += fmt::format(" at second {}", record.acts_at.second() + step.slot);
  }
  if (reason.instead.size() > steps_max) text += fmt::format(" and {} more", reason.instead.size() - steps_max);
  return text;
}

}  // namespace berth
