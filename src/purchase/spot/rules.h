/// The published policies as rules: on demand, greedy, and uniform progress.
#pragma once

#include "purchase/spot/market.h"
#include "purchase/spot/run.h"

namespace berth::purchase {

/// The running spot instance; else one in the first zone that has spot now; nothing if none has.
[[nodiscard]] Holding nearest_spot(const Market& market, const RunState& state);

/// Spot while there is time to wait, else on demand: the two rules of its safety net are those of the public benchmark
/// of "Can't Be Late" (Wu et al., NSDI 2024), whose average it reproduces to the last digit.
[[nodiscard]] Holding want_of_greedy(const TickMath& math, const Market& market, const RunState& state);

/// Uniform progress (the same paper): keeps the share of work done at or above the share of time passed, with the
/// safety net of greedy; it returns from on demand to spot once it is two restarts ahead.
[[nodiscard]] Holding want_of_uniform_progress(const TickMath& math, const Market& market, const RunState& state);

}  // namespace berth::purchase
