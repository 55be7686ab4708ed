/// Plans from a linear program whose columns are rounded to whole numbers one after another (diving), and plans near
/// the best one.
///
/// Model: that of instance.h with GPUs by pool, so that tenants which compete for limited GPUs are one program:
///   each demand d:             sum_k throughput[d][k] n[d][k] >= rate[d]
///   each pool p and kind k:    sum_{d in p} n[d][k] + extra[k] <= sum_c partition[c][k] y[p][o][c]
///   each pool p and offer o:   g[p][o] = sum_c y[p][o][c]
///   each offer o:              t[o] = sum_p g[p][o] = within[o] + excess[o],  within[o] <= gpus_max[o]
///   minimise                   sum_o price[o] t[o] + penalty excess[o]
/// The weights of the relaxation's rows (`PlanRow`) give each demand rows stating that no cover is lighter than the
/// lightest. They make the program as tight as whole covers. Its optimum is rounded column by column (the rules differ
/// in which column is next), with a few steps back where a rounding fails. Then a part of the best plan is kept, and
/// the rest is rounded again.
///
/// It proves nothing: it finds plans. Cost: one linear program for each rounding, from the basis of the last one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "planner/packing/detail/beam.h"
#include "planner/packing/detail/gpu_filler.h"
#include "planner/packing/detail/instance.h"
#include "planner/packing/detail/relaxation.h"

namespace berth::packing::detail {

/// How many GPUs of each offer.
using GpuCounts = std::vector<std::int64_t>;

/// The goal: a plan with few GPUs beyond `gpus_max`, then with a low price.
struct DiveTask {
  std::vector<std::int64_t> prices;    ///< by offer, >= 0
  GpuCounts gpus_max;                  ///< by offer; PlanLimits::kNone: any number
  std::int64_t price_min = 0;          ///< a plan within `gpus_max` at this price is good enough
  const CoverChoice* start = nullptr;  ///< a plan to begin with, or nothing
  int near_dives_max = 0;              ///< ends after this many dives near the best plan without a better one
};

class Diver {
 public:
  /// The fillers are those of the instance's offers; `extra` are slices that must fit on the GPUs of the first pool.
  /// Requires: all arguments but the relaxation outlive the diver.
  Diver(const Instance& instance, std::span<GpuFiller> fillers, const Counts& extra, const Relaxation& relaxation);
  ~Diver();

  /// The best plan found within the budget; empty: none. It may have more GPUs than `gpus_max`.
  [[nodiscard]] CoverChoice search(const DiveTask& task, Budget& budget);

  /// Plans met so far, by their GPUs: at most kPlansMax, the first ones.
  [[nodiscard]] const std::map<GpuCounts, CoverChoice>& plans() const;

  /// The GPUs that covers take.
  [[nodiscard]] GpuCounts gpus_of(const CoverChoice& covers, Budget& budget);

  static constexpr std::size_t kPlansMax = 2'000;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::packing::detail
