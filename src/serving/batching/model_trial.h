/// What can only be found out by running a model: whether its rows may share a batch, and how long batches take.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/model_engine.h"
#include "serving/dispatch/latency_estimate.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

struct TrialTerms {
  RowCount rows_max = 1;     ///< of a batch; 1: the model is not batched, and its inputs have no dimension of rows
  bool is_batched = false;   ///< the first dimension of all tensors counts rows
  bool needs_proof = false;  ///< that rows do not influence each other
  bool is_measured = false;  ///< how long batches take is known
  Micros budget = Micros(100'000);  ///< for measuring, about
  std::uint64_t seed = 1;           ///< of the made-up inputs
};

struct Trial {
  /// Empty if rows may share a batch; else why not.
  std::string why_not_batched = {};
  /// Sizes ascending, beginning with 1. Empty if the model does not run with made-up inputs.
  std::vector<LatencyPoint> times = {};
};

/// Runs a model with made-up inputs. Rows may share a batch if two different rows give the same outputs alone and
/// together, in both orders: floats within 1e-4 of the largest output (FP16 and BF16: 1e-2), everything else equal.
/// `now`: a clock that does not go back. A run that fails is no error: made-up inputs may be wrong for the model.
[[nodiscard]] Trial try_model(LoadedModel& model, const TrialTerms& terms, const std::function<Instant()>& now);

}  // namespace berth::serving
