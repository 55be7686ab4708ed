/// What `berth pack` shows: a problem, the plan found for it, and maybe how it fared under chance.
#pragma once

#include "capacity/pack.h"
#include "domain/packing.h"
#include "sim/packing_replay.h"

namespace berth::cli {

/// Borrowed for the time of one call.
struct PackAnswer {
  const PackingProblem& problem;
  const capacity::PackResult& result;
  const sim::PackingReplay* replay = nullptr;  ///< absent unless --verify

  [[nodiscard]] const GpuModel& model_of(GpuId gpu) const {
    return problem.offers[result.packing.gpu_offers[gpu.index]].model;
  }
  /// Whether the plan is judged by money; else by its number of GPUs.
  [[nodiscard]] bool is_priced() const { return problem.offers.front().micro_usd_per_hour.has_value(); }
};

}  // namespace berth::cli
