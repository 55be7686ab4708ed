/// Common rules for buying commitments of one plan, and the optimum with hindsight.
#pragma once

#include <cstdint>
#include <vector>

#include "purchase/commit/coverage.h"
#include "purchase/commit/demand.h"
#include "purchase/commit/plans.h"

namespace berth::purchase {

/// A constant number of units from hour 0, renewed at the end of each term: the number with the least cost; ties: the
/// smallest. Hindsight. Requires: exactly one committed plan, as all but `cheapest_purchases` do.
[[nodiscard]] Coverage buy_constant(const HourlyDemand& demand, const PlanList& plans);

/// Each day, from hour 24 on, buys up to the smallest demand that at least a share 1 - rho of the last `window_hours`
/// hours did not exceed; rho = committed / on-demand price.
[[nodiscard]] Coverage buy_trailing(const HourlyDemand& demand, const PlanList& plans, std::int64_t window_hours);

/// The deterministic break-even rule of Wang, Li and Liang (2013, arXiv:1305.5608), level by level: a level is bought
/// once it was in use, uncovered, for rho x term of the last term's hours.
[[nodiscard]] Coverage buy_at_break_even(const HourlyDemand& demand, const PlanList& plans);

/// The purchases with the least cost of all, for any number of plans. Hindsight. Solved as a min-cost flow through the
/// hours (min_cost_flow.h): each hour's demand is crossed by arcs of plans that span it, or of on demand; surplus units
/// flow back. Exact, in integers.
[[nodiscard]] Coverage cheapest_purchases(const HourlyDemand& demand, const PlanList& plans);

}  // namespace berth::purchase
