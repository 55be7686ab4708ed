/// The memory that apps need, from a file of measurements of their functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/trace/app_trace.h"

namespace berth::warm {

/// The MiB of each app of the trace: the largest AverageAllocatedMb_pct50 of the rows with its HashApp, rounded up, at
/// least 1. Columns are found by name; others are ignored. Errors: those of the file, FILE:LINE:COLUMN, and an app of
/// the trace without a row.
[[nodiscard]] Result<std::vector<std::int64_t>> read_app_sizes(std::string_view text, std::string_view file,
                                                               const AppTrace& trace);

}  // namespace berth::warm
