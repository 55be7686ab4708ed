/// From counts to places: the partition of each GPU, and the owner of each piece, so that as much as possible of the
/// existing plan is preserved.
#pragma once

#include <vector>

#include "domain/values/snapshot.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/detail/window_ilp.h"

namespace berth::partition::detail {

/// What a change preserves, in SMs: a piece that stays with its owner counts its SMs and kStayingSlice, one that only
/// stays a slice kStayingSlice (it is not created again, but its next holder starts), an unowned one 1.
inline constexpr int kStayingSlice = 7;
[[nodiscard]] int staying_worth(const FleetView& fleet, const FleetPlan& standing, const FleetPlan& plan);

/// A plan with these counts that preserves as much as possible (staying_worth): the maximum on one GPU. On more, GPUs
/// get a shape and a partition greedily, the largest first; up to kGpusExchanged of a model then exchange shapes and
/// get other partitions in pairs while that preserves more.
///
/// Pieces stay with their holders as far as the counts allow; then free existing pieces are assigned in order, then new
/// pieces. Pieces beyond the counts stay with the service that they serve now, otherwise they are unowned. Owners are
/// numbered as in fleet_search.h. Requires: counts that fit the fleet.
inline constexpr int kGpusExchanged = 16;
[[nodiscard]] FleetPlan realise(const FleetView& fleet, const BlockCounts& counts, const FleetPlan& standing);

}  // namespace berth::partition::detail
