#include "engine/engine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/ensure.h"
#include "engine/constraints.h"
#include "engine/facts.h"
#include "engine/verify.h"

namespace berth {
namespace {

/// What a solver may read of a snapshot: all but the seconds of services, which are many.
std::shared_ptr<const Snapshot> without_seconds(const Snapshot& snapshot) {
  auto posed = std::make_shared<Snapshot>();
  posed->version = snapshot.version;
  posed->now = snapshot.now;
  posed->slices = snapshot.slices;
  posed->services.reserve(snapshot.services.size());
  for (const ServiceState& service : snapshot.services) {
    posed->services.push_back(
        {.seconds = {}, .is_retraining_due = service.is_retraining_due, .changes = service.changes});
  }
  return posed;
}

/// Takes the actions on GPUs whose facts no longer hold out of the plan.
std::vector<DroppedPart> drop_broken_parts(const Scenario& scenario, const Snapshot& snapshot, Plan& plan) {
  std::vector<DroppedPart> dropped;
  for (const GpuFact& fact : plan.facts) {
    if (auto why = find_broken_fact(scenario, snapshot, fact))
      dropped.push_back({.gpu = fact.gpu, .why = std::move(*why)});
  }
  if (dropped.empty()) return dropped;
  const auto is_dropped = [&](GpuId gpu) {
    return std::ranges::find(dropped, gpu, &DroppedPart::gpu) != dropped.end();
  };
  std::erase_if(plan.actions, [&](const Action& action) { return is_dropped(slice_of(action.what).gpu); });
  std::erase_if(plan.facts, [&](const GpuFact& fact) { return is_dropped(fact.gpu); });
  return dropped;
}

}  // namespace

Engine::Engine(const Scenario& scenario, std::vector<Stage> stages, const EngineRules& rules)
    : scenario_(scenario),
      stages_(std::move(stages)),
      rules_(rules),
      state_(scenario.services.size(), scenario.history_seconds) {}

StepAnswer Engine::step(Instant now) {
  ENSURE(now >= state_.snapshot().now);
  state_.set_now(now);
  StepAnswer answer;
  const bool has_one_event = inbox_.size() == 1;
  if (const auto solution = apply_events()) {
    take(*solution, now, answer);
    if (has_one_event || answer.infeasible) return answer;
  }
  for (const Stage& stage : stages_) {
    if (stage.observe) stage.observe(state_.snapshot());
  }
  if (!open_question_) ask(now, answer);
  return answer;
}

std::shared_ptr<const Solution> Engine::apply_events() {
  std::shared_ptr<const Solution> solution;
  for (const Event& event : inbox_) {
    state_.apply(event);
    const auto* finished = std::get_if<SolveFinished>(&event.what);
    if (finished == nullptr || finished->question != open_question_) continue;
    solution = finished->solution;
    open_question_.reset();
  }
  inbox_.clear();
  return solution;
}

// ---- a solution takes effect

void Engine::take(const Solution& solution, Instant now, StepAnswer& answer) {
  for (const Stage& stage : stages_) {
    if (stage.learn) stage.learn(solution);
  }
  answer.infeasible = solution.infeasible;
  if (solution.infeasible || solution.plan.actions.empty()) return;
  Plan plan = solution.plan;
  answer.dropped = drop_broken_parts(scenario_, state_.snapshot(), plan);
  if (plan.actions.empty()) return;
  answer.refused = find_reason_to_refuse(plan, now);
  if (answer.refused) return;
  answer.is_first_layout = state_.snapshot().is_before_first_layout();
  state_.number(plan);
  state_.apply(plan, now);
  answer.plan = std::move(plan);
}

std::optional<std::string> Engine::find_reason_to_refuse(const Plan& plan, Instant now) const {
  auto objection = find_objection(scenario_, state_.snapshot(), plan, now);
  if (objection || !rules_.is_strict || plan.is_ordered) return objection;
  return find_breach(scenario_, state_.snapshot(), plan, now);
}

// ---- a question

void Engine::ask(Instant now, StepAnswer& answer) {
  Solution begun;
  begun.plan.id = question_count_ + 1;
  begun.plan.base_version = state_.snapshot().version;
  begun.plan.made_at = now;
  for (const Stage& stage : stages_) {
    StageAnswer asked = stage.ask(state_.snapshot(), begun.plan);
    if (auto* none = std::get_if<NoPlan>(&asked)) {
      answer.infeasible = std::move(none->why);
      return;
    }
    if (auto* solve = std::get_if<Solve>(&asked)) {
      answer.request = request_for(std::move(begun), std::move(*solve));
      return;
    }
  }
  if (!begun.plan.actions.empty()) answer.request = request_for(std::move(begun), nullptr);
}

SolveRequest Engine::request_for(Solution begun, Solve solve) {
  open_question_ = ++question_count_;
  const Snapshot& snapshot = state_.snapshot();
  SolveRequest request{.question = question_count_,
                       .made_at = snapshot.now,
                       .acts_at = snapshot.takes_effect_at(scenario_.planning),
                       .posed = without_seconds(snapshot),
                       .solve = {}};
  request.solve = [posed = request.posed, begun = std::move(begun), solve = std::move(solve)] {
    Solution solution = begun;
    if (solve) solve(*posed, solution);
    solution.plan.facts = facts_of(*posed, solution.plan);
    return solution;
  };
  return request;
}

}  // namespace berth
