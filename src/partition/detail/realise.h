/// From counts to places: which GPU is cut how, and which piece is whose, so that as much as possible of what stands
/// stays.
#pragma once

#include <vector>

#include "domain/snapshot.h"
#include "partition/detail/fleet_view.h"
#include "partition/detail/window_ilp.h"

namespace berth::partition::detail {

/// What a change leaves alone, in SMs: a piece that stays with its owner counts its SMs and kStayingSlice, one that
/// only stays a slice kStayingSlice (it is not cut anew, but its next holder starts), one of nobody 1.
inline constexpr int kStayingSlice = 7;
[[nodiscard]] int staying_worth(const FleetView& fleet, const FleetPlan& standing, const FleetPlan& plan);

/// A plan with these counts that leaves as much as possible alone (staying_worth): the most on one GPU. On more, GPUs
/// take a shape and a cut greedily, most first; up to kGpusExchanged of a model then exchange shapes and take other
/// cuts two by two while that keeps more.
///
/// Pieces stay with those who hold them as far as the counts go; then free pieces that stand are dealt in order, then
/// pieces that are cut anew. Pieces beyond the counts stay with whom they serve now, else nobody owns them. Owners are
/// told as in fleet_search.h. Requires: counts that fit the fleet.
inline constexpr int kGpusExchanged = 16;
[[nodiscard]] FleetPlan realise(const FleetView& fleet, const BlockCounts& counts, const FleetPlan& standing);

}  // namespace berth::partition::detail
