/// Answers the questions of searches by the engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "models/optimize/measuring.h"
#include "models/optimize/optimize_tools.h"
#include "models/probing/trials.h"

namespace berth::models {

/// What it is given must live as long.
class TrialRuns {
 public:
  TrialRuns(const MeasuredOriginal& original, const OptimizeRows& rows, const OptimizeTerms& terms,
            const OptimizeTools& tools)
      : original_(original), rows_(rows), terms_(terms), tools_(tools) {}

  /// The answers until `deadline`; they must not outlive the bench.
  [[nodiscard]] Trials until(Instant deadline);

 private:
  struct Loaded {
    std::string bytes;
    std::unique_ptr<ProbedModel> model;
  };

  [[nodiscard]] Result<double> loss(const Model& candidate);
  [[nodiscard]] Result<double> sqnr(const Model& candidate);
  [[nodiscard]] Result<double> time_ratio(const Model& candidate, const Model& than);
  /// Loads it, unless it is what was loaded last as that.
  [[nodiscard]] Result<ProbedModel*> load(const Model& model, Loaded& place);

  const MeasuredOriginal& original_;
  const OptimizeRows& rows_;
  const OptimizeTerms& terms_;
  const OptimizeTools& tools_;
  Loaded candidate_ = {};
  Loaded than_ = {};
  std::vector<Tensor> calibration_ = {};  ///< what the original answers; empty: not asked yet
};

}  // namespace berth::models
