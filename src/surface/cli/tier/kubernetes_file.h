/// What a pod must ask for to run on a tier, as a patch of a Deployment.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/tier/tier_predict_view.h"

namespace berth::cli {

/// Labels, nodeSelector (`nvidia.com/gpu.product`) and resource (`nvidia.com/mig-1g.10gb`, the names of the device
/// plugin's strategy `mixed`; `nvidia.com/gpu` for a whole GPU), with as many replicas as slices are needed. Error: no
/// tier may be taken, or the tier has no GPU.
[[nodiscard]] Result<std::string> kubernetes_file(const TierPredictView& view);

}  // namespace berth::cli
