/// Serving, service by service in one of two ways: request by request, or by rates where `fidelity: rates` asks for it
/// and it pays.
///
/// A service whose first layout can serve only few requests a second is served request by request at either fidelity:
/// that costs at most half a millisecond a second, and there chance decides what no rate can tell; without drops it
/// does so longer. Where services slow each other down (interference, shared slices) all go the same way, by the mean
/// of what they can serve.
#pragma once

#include <memory>
#include <vector>

#include "domain/scenario.h"
#include "sim/rate_serving.h"
#include "sim/request_serving.h"

namespace berth::sim {

/// Up to so many requests a second a service is served request by request: with `drop: early`, and with `never`.
inline constexpr double kExactPerSecondEarly = 1000;
inline constexpr double kExactPerSecondNever = 20'000;

class Serving {
 public:
  /// References must outlive it; `streams` and `meters` by service. Request by request, until told otherwise.
  Serving(const Scenario& scenario, const std::vector<ArrivalStream>& streams, std::vector<ServiceMeter>& meters,
          BusyTable& busy, Dispatch dispatch);

  /// Chooses the way of each service at `fidelity: rates`, from what the first layout can serve (requests a second, by
  /// service). Requires: nothing has started or arrived.
  /// `is_rough`: every service by rates.
  void choose_ways(const std::vector<double>& per_second, bool has_shared_slices, bool is_rough);

  // The verbs of RequestServing and RateServing, see there.
  void open_second(std::int64_t second);
  std::int64_t advance(std::int64_t until_us);
  [[nodiscard]] std::vector<SliceIndex> take_idle() { return requests_.take_idle(); }
  void start(SliceIndex index, const Slice& slice, ServiceId service, std::shared_ptr<const LatencyTable> table,
             bool is_shared);
  [[nodiscard]] bool stop(SliceIndex index);
  void set_table(SliceIndex index, ServiceId service, const std::shared_ptr<const LatencyTable>& table);
  void set_stale(ServiceId service, bool is_stale);
  void take_all(std::int64_t now_us) { requests_.take_all(now_us); }
  void finish(std::int64_t end_us) { requests_.finish(end_us); }
  [[nodiscard]] std::int64_t queued(ServiceId service, std::int64_t now_us);

 private:
  const Scenario& scenario_;
  std::vector<bool> is_by_rates_;  ///< by service
  RequestServing requests_;
  RateServing rates_;
};

}  // namespace berth::sim
