/// Constraints that a policy ignores: only a planner can keep them.
#pragma once

#include <vector>

#include "domain/values/constraint.h"
#include "domain/values/scenario.h"
#include "engine/rivals/layout.h"

namespace berth::partition {

/// The constraints of the scenario that a static policy with this layout does not keep: services in the file's order,
/// each in the order floor, pins, isolation, trust_domain, tier, replicas, warm_pool.
///
/// A floor is always ignored: no static policy plans for it. Pins are ignored unless the layout happens to have each of
/// them for its owner alone. Isolation is ignored if the layout breaks it: `gpu` by any other service on a GPU of
/// the service, `mig` by another service in one of its slices (`mps` and `timeslice` accept that). A trust domain is
/// ignored if a GPU of the service also holds one of another domain, or of none. Replicas are ignored if the layout has
/// fewer or more slices of the service; a warm pool always: nothing is created for a request that is expected. Frozen
/// windows and changes_per_hour are kept: nothing is ever repartitioned.
[[nodiscard]] std::vector<ConstraintId> ignored_constraints(const Scenario& scenario, const Layout& layout);

/// The constraints that the policies `ekya`, `astraea` and `migrator` do not keep: floors, pins, changes_per_hour,
/// isolation `gpu`, trust domains, tiers, replicas and warm pools, in this order, if the scenario sets them. They keep
/// the isolations `mig`, `mps` and `timeslice` (a slice has one holder) and frozen windows.
[[nodiscard]] std::vector<ConstraintId> constraints_ignored_while_moving(const Scenario& scenario);

/// Of a planner that keeps all other constraints.
[[nodiscard]] std::vector<ConstraintId> warm_pools_ignored(const Scenario& scenario);

}  // namespace berth::partition
