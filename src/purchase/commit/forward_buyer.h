/// The policy `berth`: buys a unit when it is worthwhile now, and likely to be over its whole term.
#pragma once

#include "purchase/commit/coverage.h"
#include "purchase/commit/demand.h"
#include "purchase/commit/plans.h"

namespace berth::purchase {

/// Decides at each hour, from the demand of the hours before it, which units to buy of which plan.
///
/// A further unit is used in an hour if the demand exceeds what is active then, and the units bought before it at the
/// same hour. Demand of the coming term is taken to be that of the last three days, moved along the trend of the last
/// two weeks if that falls: growth is never bought in advance, because waiting for it costs nothing. The unit is bought
/// if its share of hours in use is at least the plan's rho both in the last three days (otherwise it is cheaper to
/// wait) and over the term; of several plans the one that saves most per hour, where those that are long beside the
/// record have to wait. O(hours x (units bought + 1) x plans).
[[nodiscard]] Coverage buy_forward(const HourlyDemand& demand, const PlanList& plans);

}  // namespace berth::purchase
