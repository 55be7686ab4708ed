#include "engine/codec/transition_json.h"

#include <vector>

#include "domain/values/scenario.h"
#include "engine/codec/json_text.h"
#include "engine/codec/json_value.h"

namespace berth::codec {
namespace {

std::string transition_gpus_text(const PackingProblem& problem, const transition::Transition& transition) {
  std::vector<std::string> items;
  items.reserve(transition.gpus.size());
  for (std::size_t i = 0; i < transition.gpus.size(); ++i) {
    const transition::TransitionGpu& gpu = transition.gpus[i];
    items.push_back(object_text({{"gpu", json_text(i)},
                                 {"gpu_model", json_text(problem.offers[gpu.offer].model.name)},
                                 {"standing", json_text(or_null(gpu.standing))},
                                 {"target", json_text(or_null(gpu.target))}}));
  }
  return list_text(items);
}

std::string step_json(const PackingProblem& problem, const transition::Transition& transition, std::size_t index) {
  const transition::TransitionStep& step = transition.steps[index];
  const GpuModel& model = problem.offers[transition.gpus[step.slice.slice.gpu.index].offer].model;
  const Demand& demand = demand_of(problem, transition, step);
  return object_text({{"step", json_text(index + 1)},
                      {"action", json_text(word_of(step.kind))},
                      {"gpu", json_text(step.slice.slice.gpu.index)},
                      {"profile", json_text(profile_name(model, step.slice.slice.profile))},
                      {"start", json_text(step.slice.slice.start)},
                      {"model", json_text(demand.model)},
                      {"tenant", json_text(demand.tenant)},
                      {"batch", json_text(step.slice.batch)},
                      {"processes", json_text(step.slice.processes)},
                      {"temporary", json_text(step.is_temporary)}});
}

}  // namespace

std::string transition_json(const PackingProblem& problem, const transition::Transition& transition) {
  std::vector<std::string> steps;
  steps.reserve(transition.steps.size());
  for (std::size_t i = 0; i < transition.steps.size(); ++i) steps.push_back(step_json(problem, transition, i));
  return object_text({{"changes", json_text(transition.changes())},
                      {"changes_bound", json_text(transition.changes_bound)},
                      {"fewest_proven", json_text(transition.is_fewest_proven)},
                      {"moves", json_text(transition.created + transition.temporary)},
                      {"kept", json_text(transition.kept)},
                      {"created", json_text(transition.created)},
                      {"destroyed", json_text(transition.destroyed)},
                      {"retuned", json_text(transition.retuned)},
                      {"temporary", json_text(transition.temporary)},
                      {"spare_gpus", json_text(transition.spare_gpus)},
                      {"gpus", transition_gpus_text(problem, transition)},
                      {"steps", list_text(steps)}});
}

}  // namespace berth::codec
