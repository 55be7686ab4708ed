/// Pods that want the same: what one of them was refused, the others are refused too.
#pragma once

#include <span>
#include <string>

#include "kube/devices/claim.h"
#include "kube/devices/node_fit.h"

namespace berth::kube {

/// The same text for pods that want the same of nodes, and the same devices for these claims.
[[nodiscard]] std::string alike_text(const PodFacts& pod, std::span<const Claim* const> claims);

}  // namespace berth::kube
