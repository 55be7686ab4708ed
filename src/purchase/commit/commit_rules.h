/// The rules of others for buying commitments of one plan, and what is best with hindsight.
#pragma once

#include <cstdint>
#include <vector>

#include "purchase/commit/coverage.h"
#include "purchase/commit/demand.h"
#include "purchase/commit/plans.h"

namespace berth::purchase {

/// One number of units at hour 0, renewed at each end of the term: the number with the least cost, of equal ones the
/// smallest. Hindsight. Requires: one committed plan, as for all but `cheapest_purchases`.
[[nodiscard]] Coverage buy_constant(const HourlyDemand& demand, const PlanList& plans);

/// Each day, from hour 24 on: as many units as at least (1 - rho) of the last `window_hours` hours' demands do not
/// exceed, less what is active; rho = committed / on-demand price.
[[nodiscard]] Coverage buy_trailing(const HourlyDemand& demand, const PlanList& plans, std::int64_t window_hours);

/// The deterministic break-even rule of Wang, Li and Liang (2013, arXiv:1305.5608), level by level: a level that was in
/// use without a purchase of its own for rho x term of the last term's hours is bought.
[[nodiscard]] Coverage buy_at_break_even(const HourlyDemand& demand, const PlanList& plans);

/// The purchases with the least cost of all, for any number of plans. Hindsight. The problem is a flow through the
/// hours (min_cost_flow.h): an hour's demand must be crossed by plans that reach over it, by on demand, or not at all
/// by a unit of surplus that flows back. Exact, in integers.
[[nodiscard]] Coverage cheapest_purchases(const HourlyDemand& demand, const PlanList& plans);

}  // namespace berth::purchase
