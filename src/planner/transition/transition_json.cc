#include "planner/transition/transition_json.h"

#include "domain/values/scenario.h"

namespace berth::transition {
namespace {

void write_gpu(json::Writer& json, const PackingProblem& problem, const TransitionGpu& gpu, std::size_t index) {
  json.open_object().member("gpu", index).member("gpu_model", problem.offers[gpu.offer].model.name);
  json.member("standing", gpu.standing).member("target", gpu.target).close_object();
}

void write_step(json::Writer& json, const PackingProblem& problem, const Transition& transition, std::size_t index) {
  const TransitionStep& step = transition.steps[index];
  const Slice& slice = step.slice.slice;
  const GpuModel& model = problem.offers[transition.gpus[slice.gpu.index].offer].model;
  const Demand& demand = demand_of(problem, transition, step);
  json.open_object().member("step", index + 1).member("action", word_of(step.kind)).member("gpu", slice.gpu.index);
  json.member("profile", profile_name(model, slice.profile)).member("start", slice.start);
  json.member("model", demand.model).member("tenant", demand.tenant);
  json.member("batch", step.slice.batch).member("processes", step.slice.processes);
  json.member("temporary", step.is_temporary).close_object();
}

}  // namespace

void write_transition(json::Writer& json, const PackingProblem& problem, const Transition& transition) {
  json.open_object().member("changes", transition.changes()).member("changes_bound", transition.changes_bound);
  json.member("fewest_proven", transition.is_fewest_proven);
  json.member("moves", transition.created + transition.temporary).member("kept", transition.kept);
  json.member("created", transition.created).member("destroyed", transition.destroyed);
  json.member("retuned", transition.retuned).member("temporary", transition.temporary);
  json.member("spare_gpus", transition.spare_gpus).open_list("gpus");
  for (std::size_t i = 0; i < transition.gpus.size(); ++i) write_gpu(json, problem, transition.gpus[i], i);
  json.close_list().open_list("steps");
  for (std::size_t i = 0; i < transition.steps.size(); ++i) write_step(json, problem, transition, i);
  json.close_list().close_object();
}

}  // namespace berth::transition
