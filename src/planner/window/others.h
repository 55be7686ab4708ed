/// GPUs that are shared with slices of others: where plans may not go, and who may not be there.
#pragma once

#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/slice.h"
#include "planner/window/frame.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// Whether a service may only be where it is known whose neighbours it has.
[[nodiscard]] inline bool wants_known_neighbours(const ServiceTerms& service) {
  return service.is_alone_on_gpu || service.trust_domain != -1;
}

/// The model of GPUs on which slices of others block some sites: the same sites. Blocked ones are of a kind of their
/// own, on which nobody has a rate; services that want known neighbours have none at all.
[[nodiscard]] ModelTerms shared_model(const Problem& problem, const ModelTerms& alone, mig::SiteSet blocked);

/// Keeps a problem's pieces away from slices that others have made and that stay where they are. On their GPUs
/// - no piece begins on a site that clashes with one of them;
/// - no piece of a service begins that wants known neighbours;
/// - nothing changes in the window where that contradicts what stands or is pinned there.
/// `others` ascends by GPU. `problem` is that of the frame, with its standing pieces and pins; GPUs that are shared get
/// models of their own, with the same sites. O(sites) for each slice.
void keep_off_others(const Scenario& scenario, const Frame& frame, const std::vector<Slice>& others, Problem& problem);

}  // namespace berth::planner
