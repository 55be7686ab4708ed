/// Published rules that decide each app alone, and the best that is possible with hindsight.
#pragma once

#include <cstdint>

#include "serving/warm_study/loaded.h"
#include "serving/warm_study/problem.h"

namespace berth::warm {

/// Loaded for `keep_minutes` after each invoked minute. Spans end with the trace.
[[nodiscard]] LoadedMinutes loaded_for(const AppCounts& app, std::int64_t trace_minutes, std::int64_t keep_minutes);

/// The hybrid histogram policy (Shahrad et al., Serverless in the Wild, USENIX ATC 2020) in whole numbers, with a
/// histogram of gaps below `range_minutes`: from the gaps so far, the minutes after an invoked one in which the app is
/// loaded; the next invocation ends them. A mean takes the place of the published ARIMA. O(range) per invoked minute.
[[nodiscard]] LoadedMinutes loaded_by_histogram(const AppCounts& app, std::int64_t trace_minutes,
                                                std::int64_t range_minutes);

/// Each gap at its cheapest, of staying loaded, a preload in its last minute, and a cold start, in this order at ties;
/// an app's first minute: the latter two.
[[nodiscard]] LoadedMinutes loaded_at_best(const AppCounts& app, const Prices& prices);

}  // namespace berth::warm
