/// Demand by the hour: how many units, such as GPUs, are needed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::purchase {

/// Units needed in each hour, from hour 0 on; at least one hour.
using HourlyDemand = std::vector<std::int64_t>;

// With the limit of prices (plans.h) every cost fits 64 bits.
inline constexpr std::int64_t kUnitsMax = 100'000;
inline constexpr std::int64_t kHoursMax = 100'000;  ///< 11 years

/// `csv`: the columns `hour` and `units`; hours from 0 on, each once, in order, without gaps; at most kHoursMax hours
/// of at most kUnitsMax units. Errors as FILE:LINE:COLUMN.
[[nodiscard]] Result<HourlyDemand> read_demand_csv(std::string_view text, std::string_view file);

/// `openb-pods`: a list of pods with `num_gpu`, `gpu_milli` (of each GPU), `creation_time` and `deletion_time` in
/// seconds. A pod counts at the beginning of hour h if creation <= 3600 h < deletion; the hour's units are the GPUs of
/// these pods together, rounded up to whole ones. The last hour is the one before the last deletion, rounded up. The
/// same limits and errors.
[[nodiscard]] Result<HourlyDemand> read_demand_pods(std::string_view text, std::string_view file);

}  // namespace berth::purchase
