/// Configurations that suit parts of the window, as shares of the services.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/gpu_case.h"
#include "planner/one_gpu/detail/service_bound.h"

namespace berth::planner {

/// For the whole window, its halves, quarters and eighths, and the ranges between due slots: the best shares, ignoring
/// the costs of changes: with all models fresh, with the models stale that are stale now, and with progress at its
/// price and at twice that. Without duplicates.
[[nodiscard]] std::vector<std::vector<Share>> make_pool(const GpuCase& gpu_case, const Prices& prices);

}  // namespace berth::planner
