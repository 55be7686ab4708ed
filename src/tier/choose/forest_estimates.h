/// A forest as the predictions of a choice: its tiers are found by name.
#pragma once

#include <vector>

#include "base/core/result.h"
#include "tier/choose/answer.h"
#include "tier/estimate/estimator.h"

namespace berth::tier {

/// Sets `call.estimate_at` and `call.explain`. Tiers of the forest that the call does not have are tiers without rows;
/// prices are the call's. Errors: the forest was trained for the other kind of target, or does not have one of the
/// call's tiers, or has another GPU, profile, tflops or gb_per_second for it.
[[nodiscard]] Result<void> predict_with(ChooseCall& call, const Estimator& forest);

/// What would have been predicted for the tiers that were measured, from the anchor alone. Only tiers where both are
/// above 0. Requires: `predict_with(call, forest)` succeeded.
[[nodiscard]] std::vector<MeasuredCheck> checks_of(const ChooseCall& call, const Estimator& forest);

}  // namespace berth::tier
