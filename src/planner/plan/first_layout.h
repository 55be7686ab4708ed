/// The first layout of a run: it costs nothing, so its search is longer, and it takes the window that follows into
/// account.
#pragma once

#include "planner/window/limits.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// The problem of the first layout, from that of the window: changes at slot 0 are immediate and free, there are no
/// later ones, and no service retrains.
[[nodiscard]] Problem first_layout_problem(const Problem& window);

/// Improves an answer to `first`, the problem of the first layout: because a search from an empty fleet ends early, it
/// is repeated from the answer found while that gains.
void improve_first_layout(const Problem& first, const SearchLimits& limits, Answer& answer);

/// Leaves room for retraining, which the search without retraining does not do: if a layout with a free slice gives the
/// following window a higher objective, the answer becomes that layout. Small fleets only: each kind of slice of each
/// GPU model is tried, then a second slice in addition. Requires: the services of `window` and `first` differ only in
/// the parts that first_layout_problem removes, and in floors.
void leave_room_for_retraining(const Problem& window, const Problem& first, const SearchLimits& limits, Answer& answer);

}  // namespace berth::planner
