/// How many GPUs the services of a fleet need, second by second, from forecasts of their loads.
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
  double work_gpus = 0;      ///< the work to provide for, in GPUs that do nothing else
  double forecast_gpus = 0;  ///< expected work when a GPU ordered now serves
  double quantile = 0;       ///< the share of the forecast's errors that the margin covers
  double margin_gpus = 0;    ///< added to the forecast
  double surcharge = 0;      ///< the share added to the total because services are behind (surcharge.h)
};

/// The work of all services is treated as one load, because slices move between services within seconds, while a GPU
/// takes longer to arrive. A request's work is its share of the requests that a GPU partitioned for its service alone
/// answers per second. Capacity for that load is computed as `scale` does for replicas
/// (purchase/scale/forecast_policy.h), with feedback on the misses of the service that misses most, and a surcharge if
/// that is not enough (surcharge.h). The share of the total work that may be missed is 1 / sqrt(services) of that of a
/// service, as a jump hits only one of them. The GPUs are the fewest whose slices have capacities of that sum in the
/// current mix (capacity_packing.h). Work for retrainings is not counted, nor are constraints on which services may
/// share a GPU.
class GpuDemandWatch {
 public:
  /// Learns from the history that `scenario` has before second 0. `ready_seconds`: from the order of a GPU until a new
  /// slice there serves. `gpus_at_start`: without a history, the number wanted until some load is known. Keeps a
  /// reference to `scenario`. Requires: one GPU model.
  GpuDemandWatch(const Scenario& scenario, const Decimal& attainment, std::int64_t ready_seconds,
                 std::int64_t gpus_at_start);
  GpuDemandWatch(GpuDemandWatch&& other) noexcept;
  GpuDemandWatch& operator=(GpuDemandWatch&& other) noexcept;
  ~GpuDemandWatch();

  /// Whether any arrivals before second 0 are known.
  [[nodiscard]] static bool has_history(const Scenario& scenario);

  /// Observes the seconds that are over.
  void observe(const Snapshot& snapshot);
  /// The demand after the seconds observed so far.
  [[nodiscard]] GpuDemand demand();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::elastic
