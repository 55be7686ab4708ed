/// The pictures of the page of `berth tier predict`.
#pragma once

#include <string>

#include "tier/choose/answer.h"

namespace berth::report {

/// Cost at the median against the probability of keeping the target; empty if no tier has both.
[[nodiscard]] std::string cost_probability_figure(const tier::TierAnswer& answer);
[[nodiscard]] std::string cost_probability_key();

/// Throughput of a slice of each tier: what was measured, and what is or would have been predicted; empty if nothing is
/// known.
[[nodiscard]] std::string throughput_figure(const tier::TierAnswer& answer);
[[nodiscard]] std::string throughput_key();

/// How often what was left out was within its central interval; empty without a forest.
[[nodiscard]] std::string calibration_figure(const tier::TierAnswer& answer);

}  // namespace berth::report
