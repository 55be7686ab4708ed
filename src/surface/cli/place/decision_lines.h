/// The lines of --decisions, from which all figures of `berth place` can be recomputed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduling/placement/arrivals.h"
#include "scheduling/placement/run.h"

namespace berth::cli {

/// The first line of a run. `seed` is absent if pods arrive in the given order.
[[nodiscard]] std::string run_line(const placement::Problem& problem, placement::Policy policy,
                                   std::optional<std::uint64_t> seed, const placement::Arrivals& arrivals);
[[nodiscard]] std::string decision_line(const placement::Cluster& cluster, const placement::Decision& decision);
[[nodiscard]] std::string departure_line(std::int64_t decision);
[[nodiscard]] std::string move_line(const placement::Cluster& cluster, const placement::Move& move);

}  // namespace berth::cli
