/// Our policy on a trace: `serving/warm` minute by minute, once for all prices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serving/warm_study/loaded.h"
#include "serving/warm_study/problem.h"

namespace berth::warm {

/// For each price in idle minutes per cold start, when each app is loaded: wherever that is worth it. What is loaded in
/// minute t + 1 depends on the counts up to t. O(minutes x apps x (gaps + prices)).
[[nodiscard]] std::vector<std::vector<LoadedMinutes>> loaded_where_worth(const Problem& problem,
                                                                         std::span<const std::int64_t> cold_minutes);

/// Within the memory of the problem: the apps whose cold starts are expected most per MiB. Requires: a memory.
[[nodiscard]] std::vector<LoadedMinutes> loaded_by_value(const Problem& problem);

}  // namespace berth::warm
