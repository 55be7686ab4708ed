/// The only ready slices of services with a warm pool that have requests, and what it costs to move one: until the next
/// is ready, every request is a cold one.
#pragma once

#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "planner/window/problem.h"

namespace berth {

struct OnlySlice {
  planner::GpuIndex gpu;
  planner::PinnedSite site;
  /// What a cold start of its service costs, in seconds of its GPU: those that cost `cold_usd`, or without it
  /// kColdMinutes of the slice. >= 0.
  double cold_gpu_seconds = 0;
};

/// Of each service with a warm pool for which a request came or waited in the last kQuietSeconds: its inference slice,
/// if it is the only one and ready, and changes may begin on its GPU. Not of services with retraining, whose slice may
/// be wanted for that. The problem is that of the snapshot. In the order of services. O(slices).
[[nodiscard]] std::vector<OnlySlice> only_slices(const Scenario& scenario, const Snapshot& snapshot,
                                                 const planner::Problem& problem);

/// Those that another service, or none, has after the changes in slot 0.
[[nodiscard]] std::vector<OnlySlice> lost_slices(const std::vector<OnlySlice>& only, const planner::Schedule& schedule);

/// The problem in which their owners hold them in every slot, as if they had pinned them.
[[nodiscard]] planner::Problem with_slices_kept(planner::Problem problem, const std::vector<OnlySlice>& only);

}  // namespace berth
