#include "planner/transition/transition_json.h"

#include <vector>

#include "base/json/text.h"
#include "domain/values/scenario.h"

namespace berth::transition {
namespace {

std::string transition_gpus_text(const PackingProblem& problem, const transition::Transition& transition) {
  std::vector<std::string> items;
  items.reserve(transition.gpus.size());
  for (std::size_t i = 0; i < transition.gpus.size(); ++i) {
    const transition::TransitionGpu& gpu = transition.gpus[i];
    items.push_back(json::object_text({{"gpu", json::json_text(i)},
                                       {"gpu_model", json::json_text(problem.offers[gpu.offer].model.name)},
                                       {"standing", json::json_text(json::or_null(gpu.standing))},
                                       {"target", json::json_text(json::or_null(gpu.target))}}));
  }
  return json::list_text(items);
}

std::string step_json(const PackingProblem& problem, const transition::Transition& transition, std::size_t index) {
  const transition::TransitionStep& step = transition.steps[index];
  const GpuModel& model = problem.offers[transition.gpus[step.slice.slice.gpu.index].offer].model;
  const Demand& demand = demand_of(problem, transition, step);
  return json::object_text({{"step", json::json_text(index + 1)},
                            {"action", json::json_text(word_of(step.kind))},
                            {"gpu", json::json_text(step.slice.slice.gpu.index)},
                            {"profile", json::json_text(profile_name(model, step.slice.slice.profile))},
                            {"start", json::json_text(step.slice.slice.start)},
                            {"model", json::json_text(demand.model)},
                            {"tenant", json::json_text(demand.tenant)},
                            {"batch", json::json_text(step.slice.batch)},
                            {"processes", json::json_text(step.slice.processes)},
                            {"temporary", json::json_text(step.is_temporary)}});
}

}  // namespace

std::string transition_json(const PackingProblem& problem, const transition::Transition& transition) {
  std::vector<std::string> steps;
  steps.reserve(transition.steps.size());
  for (std::size_t i = 0; i < transition.steps.size(); ++i) steps.push_back(step_json(problem, transition, i));
  return json::object_text({{"changes", json::json_text(transition.changes())},
                            {"changes_bound", json::json_text(transition.changes_bound)},
                            {"fewest_proven", json::json_text(transition.is_fewest_proven)},
                            {"moves", json::json_text(transition.created + transition.temporary)},
                            {"kept", json::json_text(transition.kept)},
                            {"created", json::json_text(transition.created)},
                            {"destroyed", json::json_text(transition.destroyed)},
                            {"retuned", json::json_text(transition.retuned)},
                            {"temporary", json::json_text(transition.temporary)},
                            {"spare_gpus", json::json_text(transition.spare_gpus)},
                            {"gpus", transition_gpus_text(problem, transition)},
                            {"steps", json::list_text(steps)}});
}

}  // namespace berth::transition
