/// The bound: Dantzig-Wolfe relaxation, solved by column generation.
///
/// Model: x[d][n] is the share in which demand d is served by cover n (a whole multiset of slices that meets its rate),
/// y[o][c] how many GPUs of offer o have partition c:
///   each demand d:   sum_n x[d][n] = 1
///   each kind k:     sum_c partition[c][k] y[o][c] >= extra[k] + sum_d sum_n n[k] x[d][n]
///   each limit j:    sum_o factor[j][o] sum_c y[o][c] <= max[j]
///   minimise price of the GPUs, or the number of slices; all >= 0.
/// It is tighter than relaxing the counts themselves, because covers stay whole. Any prices on kinds and limits give a
/// bound in whole numbers (Lagrange), so no rounding of the LP library can make it wrong: weights are rounded first,
/// then the lightest cover of each demand is found exactly. The same weights give rows that every plan satisfies.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/packing/detail/covers.h"
#include "planner/packing/detail/instance.h"

namespace berth::packing::detail {

/// sum over offers of factor x GPUs <= max. Factors of one sign.
struct GpuLimit {
  std::vector<std::int64_t> factor;  ///< by offer
  std::int64_t max = 0;
};

/// The objective and the limits.
struct RelaxedProblem {
  bool counts_slices = false;  ///< minimise the slices instead of the price
  std::vector<GpuLimit> limits;
  Counts extra;  ///< slices that must fit, too
};

/// A row that every plan with an objective of at most `target` satisfies: the weights of all covers and of the extra
/// slices together are at most `limit(target)`, and no GPU of offer o holds kinds of more total weight than
/// gpu_value[o].
struct PlanRow {
  Weights weights;
  std::vector<std::int64_t> gpu_value;  ///< by offer
  std::int64_t scale = 1;               ///< of the objective
  std::int64_t fixed = 0;

  [[nodiscard]] std::int64_t limit(std::int64_t target) const { return scale * target + fixed; }
};

struct Relaxation {
  std::int64_t bound = 0;      ///< no plan has a smaller objective; above all plans if there is none
  std::int64_t work = 0;       ///< rounds x rows of the linear programs
  std::vector<PlanRow> rows;   ///< the tightest first; at most kPlanRowsMax
  std::vector<Counts> covers;  ///< by demand: the one with the largest share in the fractional optimum
  std::vector<std::vector<double>> mean_covers;  ///< by demand: slices of each kind in the fractional optimum
  std::vector<double> gpus;                      ///< by offer, in the fractional optimum
};

inline constexpr std::size_t kPlanRowsMax = 8;

/// The limits set by the offers themselves.
[[nodiscard]] std::vector<GpuLimit> count_limits(const Instance& instance);

[[nodiscard]] Relaxation relax(const Instance& instance, const RelaxedProblem& problem);

}  // namespace berth::packing::detail
