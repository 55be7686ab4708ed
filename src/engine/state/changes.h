/// Changes that count against a service's budget (`changes_per_hour`), and the services concerned.
#pragma once

#include <cstdint>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/snapshot.h"

namespace berth {

/// The budget's hour.
inline constexpr Micros kBudgetHour = Micros::seconds(3600);

/// How many slices of each service ([ServiceId]) a plan creates or destroys.
///
/// A destroyed slice counts against its holders before the plan, a created one against its holders after the plan. So
/// replacing a slice of A by one of B is one change of A and one of B. Each of several holders has one change; an
/// unowned slice counts against no service. A new holder or role of an existing slice is not a change. Requires: the
/// services of the plan exist; actions on slices that do not exist are ignored.
[[nodiscard]] std::vector<std::int64_t> changes_by_service(const Snapshot& snapshot, const Plan& plan);

/// The recorded changes of a service in the hour that ends at `until`: (until - 1 h, until]. Those of ordered plans
/// (Plan::is_ordered) are not recorded.
[[nodiscard]] std::int64_t changes_in_hour(const ServiceState& service, Instant until);

}  // namespace berth
