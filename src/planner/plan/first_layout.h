/// The first layout of a run: it costs nothing, so its search is longer, and it takes the window that follows into
/// account.
#pragma once

#include <optional>
#include <vector>

#include "planner/window/limits.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// The problem of the first layout, from that of the window: changes at slot 0 are immediate and free, there are no
/// later ones, and no service retrains.
[[nodiscard]] Problem first_layout_problem(const Problem& window);

/// Improves an answer to `first`, the problem of the first layout: because a search from an empty fleet ends early, it
/// is repeated from the answer found while that gains.
void improve_first_layout(const Problem& first, const SearchLimits& limits, Answer& answer);

/// The problem with all loads multiplied.
[[nodiscard]] Problem with_loads_times(Problem problem, double multiple);

/// Gives the answer spare capacity: of the layouts that are worth about as much (within 1e-4), the one that answers
/// the largest multiple of all loads, from twice to 16 times; on more than 16 GPUs twice, on more than 256 none. Fluid
/// loads say nothing about requests that come close together, nor about counts beyond the largest sample; space that
/// no service needs covers both.
///
/// `is_guess` ([service], or empty: none) names services whose loads are a mere guess, the same number of requests for
/// each. If all are guesses, they are first raised so that each service needs as much of the fleet as the one that
/// needs most, or as near to that as the fleet allows: who knows nothing shares space evenly, not requests.
///
/// Returns the problem with those loads; nothing, with the answer as it was, if the answer leaves a load unanswered or
/// no more can be answered. Requires: an answer to `first`. Up to 10 searches.
[[nodiscard]] std::optional<Problem> add_spare_capacity(const Problem& first, const SearchLimits& limits,
                                                        const std::vector<char>& is_guess, Answer& answer);

/// Whether the window that begins with a layout is worth as much as the one that begins with another, but for 1e-4:
/// what one layout uses as spare capacity may be the space that a retraining needs. True where no model retrains.
/// `first`: their problem, with the floors that they keep.
[[nodiscard]] bool is_worth_as_much(const Problem& window, const Problem& first, const SearchLimits& limits,
                                    const Schedule& layout, const Schedule& other);

/// Leaves room for retraining, which the search without retraining does not do: if a layout with a free slice gives the
/// following window a higher objective, the answer becomes that layout. Small fleets only: each kind of slice of each
/// GPU model is tried, then a second slice in addition. Requires: the services of `window` and `first` differ only in
/// the parts that first_layout_problem removes, and in floors.
void leave_room_for_retraining(const Problem& window, const Problem& first, const SearchLimits& limits, Answer& answer);

}  // namespace berth::planner
