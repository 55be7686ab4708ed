/// Local search for the best fixed layout of a fleet.
///
/// Moves: repartition one GPU and reassign all its owners (exactly by best_assignment if services are separable,
/// otherwise over its distinct plans; only if the necessary scores fit the budget), hand a piece to another service,
/// swap the owners of two pieces. Each move is taken if it is better (Worth). Ends when no move is better, or the
/// scorer's budget is used up.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/detail/scorer.h"
#include "engine/rivals/layout.h"

namespace berth::partition::detail {

struct ClimbResult {
  FleetPlan plan;
  Worth worth;
  std::int64_t tried = 0;  ///< plans whose worth was computed or covered by an exact repartition; saturates
};

/// The start of a climb and its budget.
struct ClimbStart {
  FleetPlan plan;
  int evaluations_max = 0;
  int gpu_first = 0;  ///< repartitioning begins here and continues cyclically
};

/// Climbs to a plan that no move improves. Nothing if not even the start could be scored.
[[nodiscard]] std::optional<ClimbResult> climb(const FleetView& fleet, const StaticBestSearch& search, Scorer& scorer,
                                               ClimbStart start);

/// The best partition and owners of one GPU of a plan while the others stay, with what it covered; nothing if the
/// scores do not fit the scorer's budget. Requires: services are separable.
struct Recut {
  GpuPlan plan;
  Worth worth;  ///< of the whole plan
  std::int64_t covered = 0;
};
[[nodiscard]] std::optional<Recut> best_recut(const FleetView& fleet, Scorer& scorer, const FleetPlan& plan, int gpu,
                                              const std::vector<int>& partitions, int evaluations_max);

}  // namespace berth::partition::detail
