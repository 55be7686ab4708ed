/// A forest as the predictions of a choice: its tiers are found by name.
#pragma once

#include "base/core/result.h"
#include "tier/choose/prospect.h"
#include "tier/estimate/estimator.h"

namespace berth::tier {

/// Sets `call.estimate_at` and `call.explain`. Tiers of the forest that the call does not have are tiers without rows;
/// prices are the call's. Errors: the forest was trained for the other kind of target, or does not have one of the
/// call's tiers, or has another GPU, profile, tflops or gb_per_second for it.
[[nodiscard]] Result<void> predict_with(ChooseCall& call, const Estimator& forest);

}  // namespace berth::tier
