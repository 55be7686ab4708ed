/// The first layout of a run: it costs nothing, so it is sought longer, and with an eye on what follows it.
#pragma once

#include "window/limits.h"
#include "window/problem.h"

namespace berth::planner {

/// The problem of the first layout, from that of the window: what is built at slot 0 stands at once and for nothing,
/// nothing changes later, and nothing retrains.
[[nodiscard]] Problem first_layout_problem(const Problem& window);

/// Betters an answer to `first`, the problem of the first layout: a search from an empty fleet ends early, so it begins
/// again with what was found as long as that gains.
void improve_first_layout(const Problem& first, const SearchLimits& limits, Answer& answer);

/// Models that retrain need room that a layout without them does not leave. Where room for a slice that is left free
/// makes the window that begins with the layout worth more, the answer becomes such a layout. Small fleets only: each
/// kind of slice of each GPU model is tried, and then a second slice beside it. Requires: the services of `window` and
/// `first` differ in what first_layout_problem takes away, and in nothing else but floors.
void leave_room_for_retraining(const Problem& window, const Problem& first, const SearchLimits& limits, Answer& answer);

}  // namespace berth::planner
