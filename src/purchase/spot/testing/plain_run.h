/// A second, plain implementation of the rules of a run, and random markets to run it on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "purchase/spot/market.h"
#include "purchase/spot/run.h"

namespace berth::purchase::testing {

struct PlainResult {
  std::string decisions;  ///< n, s or o for each tick
  std::int64_t cost = 0;  ///< micro-dollars per hour, summed over the ticks
  std::int64_t switches = 0;
  bool is_missed = false;
};

/// A run that wants wants[i] in tick i, and on demand after their end.
[[nodiscard]] PlainResult run_plainly(const Market& market, const SpotJob& job, const SpotPrices& prices,
                                      const std::vector<Holding>& wants);

/// The least cost of all sequences of wants that meet the deadline; -1 if none does. Exponential.
[[nodiscard]] std::int64_t cheapest_plainly(const Market& market, const SpotJob& job, const SpotPrices& prices);

/// n, s and o of a result.
[[nodiscard]] std::string decisions_of(const RunResult& result);
[[nodiscard]] std::int64_t cost_of(const RunResult& result, const SpotPrices& prices);

/// A market from text: 1 is a tick without spot.
[[nodiscard]] Market market_of(const std::vector<std::string>& unavailable, std::int64_t tick_seconds = 600);

/// Spells of lengths of all sizes, in each zone.
[[nodiscard]] Market random_market(Rng& rng, std::size_t zones, std::size_t ticks, std::int64_t tick_seconds);

}  // namespace berth::purchase::testing
