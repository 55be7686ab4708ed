/// From counts to places: which GPU is cut how, and which piece is whose, so that as much as possible of what stands
/// stays.
#pragma once

#include <vector>

#include "domain/snapshot.h"
#include "partition/detail/fleet_view.h"
#include "partition/detail/window_ilp.h"

namespace berth::partition::detail {

/// A plan with these counts. Shapes go to the GPUs on which most pieces stay (greedily, most first), each as the cut
/// that keeps most; pieces stay with those who hold them as far as the counts go, then they are dealt in order. Pieces
/// beyond the counts stay with whom they serve now, else nobody owns them. Owners are told as in fleet_search.h.
[[nodiscard]] FleetPlan realise(const FleetView& fleet, const BlockCounts& counts, const FleetPlan& standing);

}  // namespace berth::partition::detail
