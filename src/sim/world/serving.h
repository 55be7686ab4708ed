/// Serving, for each service in one of two ways: request by request, or by rates where `fidelity: rates` asks for it
/// and it is worthwhile.
///
/// A service whose first layout can serve only few requests per second is served request by request at either fidelity:
/// that costs at most half a millisecond per simulated second, and at low rates random effects matter that rates cannot
/// show (without drops, also at higher rates). For one that comes later, or gets other arrivals, their mean is compared
/// with the same limits. Services that slow each other down (interference, shared slices) are all served in the same
/// way, chosen by the mean of what they can serve.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/values/scenario.h"
#include "sim/world/batch_tally.h"
#include "sim/world/rate_serving.h"
#include "sim/world/request_serving.h"

namespace berth::sim {

/// Up to this many requests per second a service is served request by request: with `drop: early`, and with `never`.
inline constexpr double kExactPerSecondEarly = 1000;
inline constexpr double kExactPerSecondNever = 20'000;

class Serving {
 public:
  /// References must outlive it; `streams` and `meters` by service. Serves request by request until `choose_ways`.
  Serving(const Scenario& scenario, const ArrivalStreams& streams, std::vector<ServiceMeter>& meters,
          world::BusyTable& busy, Dispatch dispatch);

  /// Chooses the way of each service at `fidelity: rates`, from what the first layout can serve (requests per second,
  /// by service). `is_rough`: every service by rates. Requires: nothing has started or arrived.
  void choose_ways(const std::vector<double>& per_second, bool has_shared_slices, bool is_rough);
  /// Whether a service should be served the other way from now on, as its arrivals have changed.
  [[nodiscard]] bool wants_other_way(ServiceId service) const;
  /// Requires: no replica of it takes requests, and none waits.
  void change_way(ServiceId service) { is_by_rates_[service.index].flip(); }
  [[nodiscard]] bool is_by_rates(ServiceId service) const { return is_by_rates_[service.index]; }
  [[nodiscard]] std::optional<bool> common_way() const { return common_way_; }
  /// Restores the ways chosen before. Requires: nothing has started or arrived.
  void restore_ways(std::vector<bool> is_by_rates, std::optional<bool> common_way) {
    is_by_rates_ = std::move(is_by_rates);
    common_way_ = common_way;
  }

  // These functions mean the same as those of RequestServing and RateServing.
  void open_second(std::int64_t second);
  std::int64_t advance(std::int64_t until_us);
  /// Serving by rates averages over the spans between its advances: it advances only here. To be called after `advance`
  /// whenever the world does something.
  void catch_up(std::int64_t now_us);
  [[nodiscard]] std::vector<world::SliceIndex> take_idle() { return requests_.take_idle(); }
  void start(world::SliceIndex index, const Slice& slice, ServiceId service, std::shared_ptr<const LatencyTable> table,
             bool is_shared);
  /// `services`: those that hold the slice.
  [[nodiscard]] bool stop(world::SliceIndex index, const std::vector<ServiceId>& services);
  void lose(world::SliceIndex index, const std::vector<ServiceId>& services, std::int64_t now_us);
  void set_table(world::SliceIndex index, ServiceId service, const std::shared_ptr<const LatencyTable>& table);
  void set_stale(ServiceId service, bool is_stale);
  void add_place(const ArrivalStream& stream);
  void read_spec(ServiceId service) {
    requests_.read_spec(service);
    tally_.read_spec(service);
  }
  /// BatchTally::counted, restore.
  [[nodiscard]] std::map<std::string, double> counted_batches(ServiceId service) const {
    return tally_.counted(service);
  }
  void restore_batches(ServiceId service, const std::map<std::string, double>& counted) {
    tally_.restore(service, counted);
  }
  /// BatchTally::take_measured.
  [[nodiscard]] std::vector<TierMeasured> take_measured() { return tally_.take_measured(); }
  // Of services that are served request by request; by rates, batches take the table's time.
  void set_truth(ServiceId service, const BatchTruth& truth) { requests_.set_truth(service, truth); }
  [[nodiscard]] std::vector<BatchTimes> take_batch_times(std::int64_t second) {
    return requests_.take_batch_times(second);
  }
  [[nodiscard]] bool runs_other_processes(world::SliceIndex index, ServiceId service, const LatencyTable& table) const {
    return !is_by_rates_[service.index] && requests_.runs_other_processes(index, service, table);
  }
  void abandon(ServiceId service, std::int64_t now_us);
  void take_all(std::int64_t now_us) { requests_.take_all(now_us); }
  void finish(std::int64_t end_us) { requests_.finish(end_us); }
  [[nodiscard]] std::int64_t queued(ServiceId service, std::int64_t now_us);
  [[nodiscard]] std::size_t place_count() const { return requests_.place_count(); }
  [[nodiscard]] std::size_t entry_count() const { return requests_.entry_count() + rates_.entry_count(); }

 private:
  const Scenario& scenario_;
  std::vector<bool> is_by_rates_;   ///< by service
  std::optional<bool> common_way_;  ///< `is_by_rates_` of all services, where they must be served in the same way
  BatchTally tally_;
  RequestServing requests_;
  RateServing rates_;
};

}  // namespace berth::sim
