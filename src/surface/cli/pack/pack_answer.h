/// The answer of `berth pack`: a problem, its plan, and optionally the plan's replay, a cure and a transition.
#pragma once

#include "domain/values/packing.h"
#include "planner/packing/pack.h"
#include "planner/packing/packing_json.h"
#include "planner/transition/transition.h"
#include "sim/study/packing_cure.h"
#include "sim/study/packing_replay.h"

namespace berth::cli {

/// All parts are borrowed for one call.
struct PackAnswer {
  const PackingProblem& problem;
  const packing::PackResult& result;
  const study::PackingReplay* replay = nullptr;        ///< absent unless --verify
  const study::PackingCure* cure = nullptr;            ///< absent unless --cure found one
  const transition::Transition* transition = nullptr;  ///< absent unless --from

  [[nodiscard]] const GpuModel& model_of(GpuId gpu) const {
    return problem.offers[result.packing.gpu_offers[gpu.index]].model;
  }
  [[nodiscard]] bool names_models() const { return packing::names_gpu_models(problem); }
  [[nodiscard]] bool is_priced() const { return problem.is_priced(); }
};

}  // namespace berth::cli
