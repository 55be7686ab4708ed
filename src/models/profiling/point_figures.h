/// From the turns of a size to the figures of its point.
#pragma once

#include <span>

#include "domain/values/profile_run.h"
#include "models/profiling/turn.h"

namespace berth::models {

struct MeanInterval {
  double mean = 0;
  double low = 0;   ///< at least 0
  double high = 0;  ///< infinite for a single turn

  /// Half of its width, relative to the mean.
  [[nodiscard]] double relative_width() const;
};

/// The mean time of a batch, with a 95 % interval by the method of batch means (Law and Kelton, Simulation Modeling and
/// Analysis, 9.5.3): each turn is one observation, whatever happens within it. The mean is the ratio of two sums, time
/// and number of batches, so its variance is that of the residuals of turns. Where neighbouring turns are alike, with
/// the correlation r > 0 of first order, it is (1 + r) / (1 - r) times as large and there are as many fewer degrees of
/// freedom, as in an autoregressive process. Requires: not empty; all turns fit.
[[nodiscard]] MeanInterval mean_interval(std::span<const TurnTimes> turns);

/// All figures but `batch`, `processes`, `is_short` and `memory_bytes`. Percentiles weigh each sampled time by its
/// stride (nearest rank). Requires: likewise.
[[nodiscard]] ProfilePoint point_figures(std::span<const TurnTimes> turns, int batch);

}  // namespace berth::models
