/// Slices beyond the most that a service may have (ReplicaLimits), and the check that a plan keeps the limits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/slice.h"
#include "domain/values/snapshot.h"
#include "engine/loop/fleet_after.h"

namespace berth {

/// Adds the destruction of a service's inference slices beyond its `slices_max` to the plan, which is then ordered
/// (Plan::is_ordered). The cheapest ones that are ready stay; pinned slices and those shared with other services are
/// left, and those on draining GPUs do not count. Nothing before the first layout and in frozen windows. `services`:
/// those with a limit; `reason`: that for a service. O(slices x services).
void destroy_excess(const Scenario& scenario, const Snapshot& snapshot, const std::set<ServiceId>& services,
                    const std::function<std::string(ServiceId)>& reason, Plan& plan);

/// The service whose limits a plan breaks, and how: it leaves fewer inference slices than `slices_min`, and fewer than
/// there are; or more than `slices_max`, and more than there are, both without those on draining GPUs, beside which
/// their successors are made. Nothing if there is none. For the verifier: shares no code with the planners.
[[nodiscard]] std::optional<std::string> find_limit_breach(const Scenario& scenario, const Snapshot& snapshot,
                                                           const FleetAfter& after);

}  // namespace berth
