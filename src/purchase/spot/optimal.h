/// The cheapest run of a job on a market whose whole future is known.
#pragma once

#include <vector>

#include "purchase/spot/market.h"
#include "purchase/spot/run.h"

namespace berth::purchase {

/// The choice for each tick: the cheapest sequence whose run, guard included, meets the deadline; empty if none does.
/// Ties: the first in the order of the search.
///
/// An exact dynamic programme over (holding, restart left, work done), tick by tick. Of two states with one holding and
/// restart, one that has done no more work and cost no less is left out: whatever it does, the other can do. Costs are
/// integers. Time O(ticks x states): some hundred states per tick, some ten thousand where ticks are much shorter than
/// a restart. Memory for the states of one tick and the changes of want that lead to them.
[[nodiscard]] std::vector<Holding> cheapest_wants(const Market& market, const SpotJob& job, const SpotPrices& prices);

}  // namespace berth::purchase
