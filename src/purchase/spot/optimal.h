/// The cheapest run of a job on a market whose whole future is known.
#pragma once

#include <vector>

#include "purchase/spot/market.h"
#include "purchase/spot/run.h"

namespace berth::purchase {

/// The choice for each tick: the cheapest sequence whose run, guard included, meets the deadline; empty if none does.
/// Ties: the first in the order of the search.
///
/// An exact dynamic programme over (holding, restart left, work done), tick by tick. A state is dropped if another one
/// with the same holding and restart has done no less work at no higher cost. Costs are integers. O(ticks x states), in
/// practice some hundred states per tick.
[[nodiscard]] std::vector<Holding> cheapest_wants(const Market& market, const SpotJob& job, const SpotPrices& prices);

}  // namespace berth::purchase
