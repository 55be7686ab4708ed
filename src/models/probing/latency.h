/// Two models timed in turn.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "domain/values/tensor.h"
#include "models/compare/latency_ratio.h"

namespace berth::models {

struct LatencyOptions {
  int rounds_max = 200;
  int rounds_min = 5;
  double width_target = 0.02;  ///< of the interval of the ratio, relative to the ratio: then enough is known
  Micros budget = {};          ///< no new round after it, warm-up included, unless fewer than rounds_min were run
};

struct LatencyMeasured {
  LatencyRatio ratio;      ///< of the variant to the original
  double original_us = 0;  ///< median of a run
  double variant_us = 0;
  int rounds = 0;
  bool is_settled = false;  ///< the interval is within width_target, or all rounds were run
};

/// Rounds of original, variant, variant, original, after a warm-up. Each of the four is as many runs of the model as
/// take half a millisecond, so that the clock does not matter; neighbours are compared, so that each round gives two
/// ratios. `now`: a clock for the budget. Errors: those of `time`. Requires: 5 <= rounds_min <= rounds_max.
[[nodiscard]] Result<LatencyMeasured> measure_latency(ProbedModel& original, ProbedModel& variant,
                                                      std::span<const Tensor> inputs, const LatencyOptions& options,
                                                      const std::function<Instant()>& now);

}  // namespace berth::models
