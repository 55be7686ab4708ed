/// Pools that compete for limited GPUs: plans are made for each pool separately, and one of each is chosen jointly.
///
/// Model (Dantzig-Wolfe over pools): a column is a plan of one pool, of which only its GPUs of each offer count.
///   each pool:   exactly one column
///   each offer:  the chosen columns' GPUs together are at most its count
///   minimise     the price of the GPUs
/// The relaxation of this choice prices the GPUs of short offers; under these prices each pool is searched for another
/// plan. The choice itself is exact unless it has too many sums: pool by pool, over all sums of GPUs. At the end each
/// pool, and each pair of pools, gets plans for the GPUs that the others leave.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "planner/packing/detail/beam.h"
#include "planner/packing/detail/gpu_filler.h"
#include "planner/packing/detail/instance.h"
#include "planner/packing/detail/relaxation.h"

namespace berth::packing::detail {

struct PoolMixGoal {
  std::int64_t price_min = 0;           ///< a plan at this price is good enough
  std::span<const CoverChoice> starts;  ///< by pool: its plan alone, or empty
  const CoverChoice* plan = nullptr;    ///< of all pools: its parts are columns too; or nothing
};

/// The cheapest plan found that is within the offers' counts. It proves nothing. The fillers are those of the
/// instance's offers. Requires: demands ascend by pool.
[[nodiscard]] std::optional<CoverChoice> mix_pools(const Instance& instance, std::span<GpuFiller> fillers,
                                                   const Relaxation& relaxation, const PoolMixGoal& goal,
                                                   Budget& budget);

}  // namespace berth::packing::detail
