#include "engine/engine.h"

#include <utility>

#include "base/ensure.h"
#include "engine/verify.h"

namespace berth {

Engine::Engine(const Scenario& scenario, std::vector<Stage> stages)
    : scenario_(scenario), stages_(std::move(stages)), state_(scenario.services.size(), scenario.history_seconds) {}

StepAnswer Engine::step(Instant now) {
  ENSURE(now >= state_.snapshot().now);
  state_.set_now(now);
  for (const Event& event : inbox_) state_.apply(event);
  inbox_.clear();

  StepAnswer answer;
  answer.plan.base_version = state_.snapshot().version;
  answer.plan.made_at = now;
  for (const Stage& stage : stages_) {
    answer.infeasible = stage.run(state_.snapshot(), answer.plan);
    if (answer.infeasible) return answer;
  }
  if (answer.plan.actions.empty()) return answer;
  const bool is_first_layout = state_.snapshot().slices.empty() && now == Instant();
  const Instant acts_at = is_first_layout ? now : now + scenario_.planning;
  answer.refused = find_objection(scenario_, state_.snapshot(), answer.plan, acts_at);
  if (answer.refused) {
    answer.plan.actions.clear();
    return answer;
  }
  state_.apply(answer.plan);
  return answer;
}

}  // namespace berth
