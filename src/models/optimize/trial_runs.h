/// Answers the questions of searches by the engine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "models/optimize/measuring.h"
#include "models/optimize/optimize_tools.h"
#include "models/optimize/step_clock.h"
#include "models/probing/trials.h"

namespace berth::models {

/// For one search. What it is given must live as long.
class TrialRuns {
 public:
  TrialRuns(const MeasuredOriginal& original, const OptimizeRows& rows, const OptimizeTools& tools, Instant deadline)
      : original_(original), rows_(rows), tools_(tools), clock_(tools.now(), deadline) {}

  /// They must not outlive this.
  [[nodiscard]] Trials trials();
  /// As StepClock::preparation.
  [[nodiscard]] std::optional<Micros> preparation() const { return clock_.preparation(); }

 private:
  struct Loaded {
    std::string bytes;
    std::unique_ptr<ProbedModel> model;
  };

  [[nodiscard]] Result<double> loss(const Model& candidate);
  [[nodiscard]] Result<double> sqnr(const Model& candidate);
  [[nodiscard]] Result<std::vector<double>> noise(const Model& candidate);
  /// What the candidate answers to the calibration rows; afterwards the original's answers are known.
  [[nodiscard]] Result<std::vector<Tensor>> answers(const Model& candidate);
  [[nodiscard]] Result<double> time_ratio(const Model& candidate, const Model& than);
  /// Loads it, unless it is what was loaded last as that.
  [[nodiscard]] Result<ProbedModel*> load(const Model& model, Loaded& place);

  const MeasuredOriginal& original_;
  const OptimizeRows& rows_;
  const OptimizeTools& tools_;
  StepClock clock_;
  Loaded candidate_ = {};
  Loaded than_ = {};
  std::vector<Tensor> calibration_ = {};  ///< what the original answers; empty: not asked yet
};

}  // namespace berth::models
