/// The policy `berth`: buys a unit when it is worthwhile now and likely to stay so over its whole term.
#pragma once

#include "purchase/commit/coverage.h"
#include "purchase/commit/demand.h"
#include "purchase/commit/plans.h"

namespace berth::purchase {

/// Decides at each hour, from the demand of the hours before it, which units to buy of which plan.
///
/// A further unit is used in an hour if the demand exceeds the units active then, including those bought before it in
/// the same hour. Demand over the coming term is assumed to equal that of the last three days, shifted along the trend
/// of the last two weeks if it falls: growth is never bought in advance, because waiting for it costs nothing. The unit
/// is bought if its share of hours in use is at least the plan's rho both in the last three days (otherwise it is
/// cheaper to wait) and over the term; of several plans the one that saves most per hour; plans whose term is long
/// compared with the record must wait. O(hours x (units bought + 1) x plans).
[[nodiscard]] Coverage buy_forward(const HourlyDemand& demand, const PlanList& plans);

}  // namespace berth::purchase
