/// What a search may ask of the engine about a candidate: the answers are measurements, the search itself is pure.
#pragma once

#include <functional>
#include <vector>

#include "base/core/result.h"
#include "models/graph/graph.h"

namespace berth::models {

struct Trials {
  /// Of the rows that choose: share of right answers lost, or the error itself (models/compare/loss.h).
  std::function<Result<double>(const Model&)> loss;
  /// Of the calibration rows, first float output, in decibels against the original.
  std::function<Result<double>(const Model&)> sqnr_db;
  /// The same as the squared error of each calibration row.
  std::function<Result<std::vector<double>>(const Model&)> row_noise = {};
  /// Time of `candidate` / time of `than`, measured in turn, geometric mean over the batch sizes in use. Below 1:
  /// faster.
  std::function<Result<double>(const Model& candidate, const Model& than)> time_ratio;
  /// False once the time for this search is used up: it then ends with the best it has.
  std::function<bool()> has_time;
};

}  // namespace berth::models
