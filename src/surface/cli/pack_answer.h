/// The answer of `berth pack`: a problem, the plan found for it, and optionally its replay, a cure and a transition.
#pragma once

#include "domain/packing.h"
#include "packing/pack.h"
#include "study/packing_replay.h"
#include "surface/cli/pack_cure.h"
#include "transition/transition.h"

namespace berth::cli {

/// All parts are borrowed for one call.
struct PackAnswer {
  const PackingProblem& problem;
  const packing::PackResult& result;
  const study::PackingReplay* replay = nullptr;        ///< absent unless --verify
  const PackCure* cure = nullptr;                      ///< absent unless --cure found one
  const transition::Transition* transition = nullptr;  ///< absent unless --from

  [[nodiscard]] const GpuModel& model_of(GpuId gpu) const {
    return problem.offers[result.packing.gpu_offers[gpu.index]].model;
  }
  /// Whether slices name the model of their GPU.
  [[nodiscard]] bool names_models() const { return is_priced() || problem.offers.size() > 1; }
  /// Whether the plan is judged by money; else by its number of GPUs.
  [[nodiscard]] bool is_priced() const { return problem.offers.front().micro_usd_per_hour.has_value(); }
};

}  // namespace berth::cli
