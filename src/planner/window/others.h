/// GPUs with foreign slices: which sites plans may not use, and which services may not be there.
#pragma once

#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/slice.h"
#include "planner/window/frame.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// Whether a service may only be next to known services.
[[nodiscard]] inline bool wants_known_neighbours(const ServiceTerms& service) {
  return service.is_alone_on_gpu || service.trust_domain != -1;
}

/// The model of GPUs on which foreign slices block some sites: the same sites, but blocked ones have a kind of their
/// own, on which no service has a rate; services that want known neighbours have no rates at all.
[[nodiscard]] ModelTerms shared_model(const Problem& problem, const ModelTerms& alone, mig::SiteSet blocked);

/// Keeps a problem's pieces away from foreign slices, which stay where they are. On their GPUs
/// - no piece begins on a site that clashes with one of them;
/// - no piece of a service begins that wants known neighbours;
/// - nothing changes in the window if standing or pinned pieces contradict these rules.
/// `others`: the foreign slices, ascending by GPU. `problem` is that of the frame, with its standing pieces and pins;
/// GPUs with foreign slices get models of their own, with the same sites. O(sites) for each slice.
void keep_off_others(const Scenario& scenario, const Frame& frame, const std::vector<Slice>& others, Problem& problem);

}  // namespace berth::planner
