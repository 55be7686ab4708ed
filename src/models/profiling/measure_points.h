/// Measures a model at each batch size with each number of processes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/profile_run.h"
#include "models/profiling/turn.h"

namespace berth::models {

struct MeasureTerms {
  std::vector<int> batches = {1};    ///< ascending
  std::vector<int> processes = {1};  ///< ascending
  double seconds_min = 3;            ///< of each point
  double width_target = 0.02;        ///< of the interval: half of it, relative to the mean
  std::uint64_t seed = 1;            ///< of the order of turns
};

struct MeasureTools {
  /// Runs a turn, after some batches of that size that do not count. An error ends the measurement.
  std::function<Result<TurnTimes>(const TurnOrder&)> run_turn;
  /// What is done, 0 to 1, and what runs now.
  std::function<void(double done, std::string_view what)> report = [](double, std::string_view) {};
  std::function<bool()> should_stop = [] { return false; };
};

/// Each point is warmed up, in ascending order, which shows its memory. Then rounds: each point that is not done has a
/// turn, in random order. A point is done after `seconds_min` of turns when its interval is as narrow as wanted, or
/// after three times that (`is_short`), but not before its second turn: a batch may take longer than a turn. What does
/// not fit has no turns. Errors: those of run_turn; kInterrupted. Requires: not empty, all positive.
[[nodiscard]] Result<std::vector<ProfilePoint>> measure_points(const MeasureTerms& terms, const MeasureTools& tools);

}  // namespace berth::models
