/// How many GPUs the services of a fleet want, second by second, from what their loads are going to be.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/core/decimal.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"

namespace berth::elastic {

/// A number of GPUs, and why.
struct GpuDemand {
  std::int64_t gpus = 0;
  double work_gpus = 0;      ///< the work that is to be possible, as GPUs that do nothing but it
  double forecast_gpus = 0;  ///< expected work when a GPU ordered now serves
  double quantile = 0;       ///< the share of the forecast's errors that the margin covers
  double margin_gpus = 0;    ///< added to the forecast
  double surcharge = 0;      ///< the share added to all that, because services are behind (surcharge.h)
};

/// The work of all services is one load, as slices go from one to the other within seconds, and a GPU takes longer. A
/// request's work is its share of what a GPU answers in a second that is cut for its service alone. That load is wanted
/// served as `scale` wants replicas (purchase/scale/forecast_policy.h), with feedback on what the service that misses
/// most has missed, and more where that is not enough (surcharge.h); of all work only a part of what a service may miss
/// is to be missed, 1 / sqrt(services), as a jump hits one of them. The GPUs are the fewest whose slices have
/// capacities of that sum in the present mix (capacity_packing.h). Work for retrainings is not counted, nor are
/// constraints on who stands beside whom.
class GpuDemandWatch {
 public:
  /// Knows the history that `scenario` has before second 0. `ready_seconds`: from the order of a GPU until a new slice
  /// there serves. `gpus_at_start`: where there is no history, so many are wanted until something is known. Keeps a
  /// reference to `scenario`. Requires: one GPU model.
  GpuDemandWatch(const Scenario& scenario, const Decimal& attainment, std::int64_t ready_seconds,
                 std::int64_t gpus_at_start);
  GpuDemandWatch(GpuDemandWatch&& other) noexcept;
  GpuDemandWatch& operator=(GpuDemandWatch&& other) noexcept;
  ~GpuDemandWatch();

  /// Whether anything is known before second 0.
  [[nodiscard]] static bool has_history(const Scenario& scenario);

  /// Sees the seconds that are over.
  void observe(const Snapshot& snapshot);
  /// After the seconds seen so far.
  [[nodiscard]] GpuDemand demand();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::elastic
