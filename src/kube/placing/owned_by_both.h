/// What an operator owns while its configuration changes.
#pragma once

#include <vector>

#include "kube/placing/owned_pools.h"

namespace berth::kube {

/// The pools that both own.
[[nodiscard]] std::vector<OwnedPools> owned_by_both(const std::vector<OwnedPools>& one,
                                                    const std::vector<OwnedPools>& other);

}  // namespace berth::kube
