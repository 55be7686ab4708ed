/// The fewest (or cheapest) GPUs that serve a set of demands, how each is partitioned, and a proven bound:
/// docs/reference/packing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/packing.h"

namespace berth::profile {
struct UsableRule;
}  // namespace berth::profile

namespace berth::packing {

/// The budget of a search. A node is one attempt to serve one more demand in addition to a partial plan; relaxations
/// and the filling of GPUs count as the number of nodes that take as long.
struct PackOptions {
  std::int64_t nodes_max = 60'000'000;
};

/// How good a plan is, in the order in which plans are compared: cost (if offers have prices) or GPUs, then the largest
/// slice that could still be created somewhere, then the number of slices.
struct PackScore {
  std::int64_t gpus = 0;
  std::optional<std::int64_t> micro_usd_per_hour;
  /// The largest plain slice that still fits on one of the GPUs (by SMs, then length); absent: none fits.
  std::optional<Slice> largest_free;
  std::int64_t slices = 0;
};

struct PackResult {
  Packing packing;
  PackScore score;
  /// No plan costs less: in GPUs, or in micro-USD per hour if offers have prices.
  std::int64_t bound = 0;
  bool is_proven = false;               ///< the plan reaches the bound
  bool is_largest_free_proven = false;  ///< no plan with this objective leaves a larger free slice
  bool is_slice_count_proven = false;   ///< ... and none of those has fewer slices
  std::int64_t nodes = 0;               ///< used
  std::vector<Slice> unused;            ///< `empty_places`
};

/// Packs. The result depends only on the arguments. Errors (kInvalidInput): demands that no slice can serve, all named
/// at once; numbers too long for exact work; the offers cannot serve the demands (says whether that is proven).
[[nodiscard]] Result<PackResult> pack(const PackingProblem& problem, const PackOptions& options);

/// The score of any legal plan of a problem.
[[nodiscard]] PackScore score_of(const PackingProblem& problem, const Packing& packing);

/// The plain slices that could still be created: one GPU after the other, on each the largest first.
[[nodiscard]] std::vector<Slice> empty_places(const PackingProblem& problem, const Packing& packing);

/// The points at which a demand may run.
[[nodiscard]] profile::UsableRule usable_rule(const PackingProblem& problem, const Demand& demand);

/// A demand's best use of a kind of slice: the usable point with the highest throughput; ties: smaller batch, then
/// fewer processes. Nothing if no measured point is usable there. Exact.
[[nodiscard]] std::optional<PerformancePoint> best_point(const PackingProblem& problem, const Demand& demand,
                                                         const GpuModel& model, ProfileId profile);

}  // namespace berth::packing
