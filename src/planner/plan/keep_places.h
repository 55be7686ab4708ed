/// Takes needless exchanges out of a schedule: services that trade slices of one kind with each other.
#pragma once

#include "planner/window/problem.h"

namespace berth::planner {

/// The answer in which services keep the slices that they hold, where its changes in slot 0 give such a slice to
/// another service, and its former owner one of the same kind elsewhere: both places are exchanged back, if the
/// objective does not fall and all rules are kept; floors too, unless the answer leaves some unmet. The search has no
/// reason to prefer either where the former owner has little load, but whoever moves is not ready for a while. The
/// bound stays. Requires: a schedule without faults, or with unmet floors alone.
/// O(exchanges x (evaluate + find_fault)).
[[nodiscard]] Answer with_places_kept(const Problem& problem, Answer answer);

}  // namespace berth::planner
