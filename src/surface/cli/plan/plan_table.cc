#include "surface/cli/plan/plan_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/core/overloaded.h"
#include "domain/values/gpu_name.h"
#include "engine/loop/conflict.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using PlanRow = std::vector<std::string>;

/// The most steps shown of an alternative, so that a row stays readable. The JSON has all of them.
constexpr std::size_t kStepsInsteadMax = 2;

/// "+0.51", "needed" if no plan without the step was found, "-" if no reason was computed.
std::string gain_text(const planner::ReasonedStep& reasoned) {
  if (reasoned.step.type == planner::StepType::kKeep) return fmt::format("{:+.3g}", reasoned.kept_worth);
  if (!reasoned.reason) return std::string(kAbsentText);
  return reasoned.reason->gain ? fmt::format("{:+.3g}", *reasoned.reason->gain) : "needed";
}

PlanRow step_row(const Scenario& scenario, const PlanAnswer& answer, const planner::ReasonedStep& reasoned) {
  const PlanRecord& record = answer.record;
  const planner::Step& step = reasoned.step;
  const bool is_held = step.piece.service != planner::kNoService;
  const std::string role = !is_held ? "" : step.piece.use == planner::kRetraining ? "retraining" : "inference";
  return {
      fmt::format("{}", record.acts_at.second() + step.slot),
      gpu_name({static_cast<std::uint32_t>(step.gpu)}),
      std::string(berth::word_of(step.type)),
      slice_text(scenario, record, step.gpu, step.piece.site) +
          (is_predicted(scenario, answer, step) ? " (predicted)" : ""),
      is_held ? scenario.services[static_cast<std::size_t>(step.piece.service)].name : std::string(kAbsentText),
      role,
      gain_text(reasoned),
      reasoned.of_gpu ? fmt::format("{:.3g}", reasoned.of_gpu->cost) : std::string(kAbsentText),
      reasoned.reason ? instead_text(scenario, record, *reasoned.reason, kStepsInsteadMax) : std::string(kAbsentText)};
}

/// Remarks on reasons that were not computed, and on a better plan.
std::string remarks_on(const planner::Reasons& reasons) {
  std::string text;
  const std::size_t changing = changing_count(reasons);
  if (reasons.computed < changing) {
    text += wrapped(fmt::format(
                "reasons were computed for {} of {} steps, those with the largest gain{}; --reasons all "
                "computes the others",
                reasons.computed, changing,
                reasons.are_largest ? "" : " among the " + std::to_string(reasons.what_ifs) + " most promising ones")) +
            "\n";
  }
  if (reasons.better_found) {
    text +=
        wrapped(fmt::format("a better plan was found while reasons were computed: objective {:.6g}; the engine takes "
                            "the plan above",
                            *reasons.better_found)) +
        "\n";
  }
  return text;
}

std::string step_text(const std::optional<planner::SliceStep>& step) {
  if (!step) return std::string(kAbsentText);
  return fmt::format("{:+.3g} by {}/s", step->change, significant(step->requests_per_second));
}

void add_shares(std::string& text, const Scenario& scenario, const PlanAnswer& answer, bool has_colour) {
  std::vector<PlanRow> rows = {
      {"service", "forecast/s", "capacity/s", "served/s", "value", "one slice more", "one slice less"}};
  for (std::size_t i = 0; i < answer.shares.size(); ++i) {
    const planner::ServiceShare& share = answer.shares[i];
    rows.push_back({scenario.services[i].name, significant(share.forecast), significant(share.capacity),
                    significant(share.served), fmt::format("{:.4g}", share.value), step_text(share.one_more),
                    step_text(share.one_less)});
  }
  text += "\n";
  for (std::size_t i = 0; const std::string& line : aligned(rows)) {
    text += styled_line(has_colour && i++ == 0, "1", line);
  }
}

/// The GPU model of each service for which one was chosen, and why no other.
std::string tiers_text(const Scenario& scenario, const std::vector<TierChoice>& tiers) {
  std::string text;
  for (const TierChoice& choice : tiers) {
    text += wrapped(fmt::format("{} since second {} on {}", scenario.services[choice.service.index].name,
                                choice.at.second(), text_of(choice))) +
            "\n";
  }
  return text;
}

std::string unmet_floors_text(const Scenario& scenario, const UnmetFloors& unmet) {
  return std::visit(
      Overloaded{
          [&](const ProvenConflict& conflict) {
            return "not all floors can be met: " + conflict_text(scenario, conflict.constraints, conflict.is_minimal) +
                   "; the plan meets them as far as it can";
          },
          [](const ChangeUnderWay& change) {
            return fmt::format("floors are unmet until a change under way is done, at second {}: then all can be met",
                               (change.until - Instant()).to_seconds());
          },
          [](const FloorsNotDecided&) {
            return std::string(
                "floors are unmet: the search ended at its limit, and it is not decided whether all can be met");
          }},
      unmet);
}

}  // namespace

std::string plan_table(const Scenario& scenario, const PlanAnswer& answer, bool has_colour) {
  const PlanRecord& record = answer.record;
  const double gap = gap_of(record.answer);
  std::string text =
      wrapped(fmt::format("{}: the plan made at second {}, for {} s; gain over changing nothing: {:+.4g}",
                          scenario.name, record.made_at.second(), record.problem.slots, promised_gain_of(record)));
  text += "\n\n";
  std::vector<PlanRow> rows = {{"second", "GPU", "step", "slice", "service", "role", "gain", "cost", "instead of"}};
  for (const planner::ReasonedStep& step : answer.reasons.steps) rows.push_back(step_row(scenario, answer, step));
  bool is_head = true;
  for (const std::string& line : aligned(rows)) {
    text += styled_line(has_colour && is_head, "1", line);
    is_head = false;
  }
  if (!answer.shares.empty()) add_shares(text, scenario, answer, has_colour);
  text +=
      fmt::format("\nobjective {:.6g}, bound {:.6g}: {}; {} nodes\n", record.answer.objective, record.answer.bound,
                  gap == 0 ? std::string("proven") : fmt::format("a better plan can gain at most {:.3g} %", 100 * gap),
                  with_separators(record.answer.nodes));
  text += tiers_text(scenario, answer.tiers);
  text += remarks_on(answer.reasons);
  if (record.unmet_floors) text += wrapped(unmet_floors_text(scenario, *record.unmet_floors)) + "\n";
  const std::string unit = scenario.objective == Objective::kServices
                               ? "seconds in which every service is answered in time with full accuracy"
                               : "answers in time, weighted by accuracy";
  text +=
      wrapped(
          "gain: how much the objective falls in the best plan found without that step (for a slice that is kept: its "
          "contribution); cost: what the duration and the price of the changes of its GPU take from the objective; "
          "unit: " +
          unit) +
      "\n";
  if (answer.solve_ms) text += fmt::format("solved in {:.2f} ms", *answer.solve_ms);
  if (answer.reasons_ms) text += fmt::format(", reasons computed in {:.0f} ms\n", *answer.reasons_ms);
  return text;
}

}  // namespace berth::cli
