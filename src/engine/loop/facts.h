/// The facts that a plan names: what must still hold when it takes effect. The state's version cannot be used for this,
/// as it grows with each observed second.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"

namespace berth {

/// The facts of each GPU on which the plan has an action, ascending, as the snapshot shows them. Slices that are
/// leaving are not facts, nor is the readiness of a slice. O(slices + actions log actions).
[[nodiscard]] std::vector<GpuFact> facts_of(const Snapshot& snapshot, const Plan& plan);

/// Why a fact does not hold in this snapshot, or nothing: the GPU is lost; a service that gets a slice is gone or has
/// another spec; a slice is gone or leaving, has had other holders since, or is new. O(slices of the GPU + log slices).
[[nodiscard]] std::optional<std::string> find_broken_fact(const Scenario& scenario, const Snapshot& snapshot,
                                                          const GpuFact& fact);

}  // namespace berth
