#include "engine/engine.h"

#include <utility>

#include "base/ensure.h"
#include "engine/constraints.h"
#include "engine/verify.h"

namespace berth {

Engine::Engine(const Scenario& scenario, std::vector<Stage> stages, const EngineRules& rules)
    : scenario_(scenario),
      stages_(std::move(stages)),
      rules_(rules),
      state_(scenario.services.size(), scenario.history_seconds) {}

StepAnswer Engine::step(Instant now) {
  ENSURE(now >= state_.snapshot().now);
  state_.set_now(now);
  for (const Event& event : inbox_) state_.apply(event);
  inbox_.clear();

  StepAnswer answer;
  answer.plan.base_version = state_.snapshot().version;
  answer.plan.made_at = now;
  answer.is_first_layout = state_.snapshot().is_before_first_layout();
  answer.acts_at = state_.snapshot().takes_effect_at(scenario_.planning);
  for (const Stage& stage : stages_) {
    answer.infeasible = stage.run(state_.snapshot(), answer.plan);
    if (answer.infeasible) return answer;
  }
  if (answer.plan.actions.empty()) return answer;
  answer.refused = find_objection(scenario_, state_.snapshot(), answer.plan, answer.acts_at);
  if (!answer.refused && rules_.is_strict) {
    answer.refused = find_breach(scenario_, state_.snapshot(), answer.plan, answer.acts_at);
  }
  if (answer.refused) {
    answer.plan.actions.clear();
    return answer;
  }
  state_.apply(answer.plan, answer.acts_at);
  return answer;
}

}  // namespace berth
