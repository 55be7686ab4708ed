/// Serving by rates (`fidelity: rates`): a few sums replace the requests of a second of a service, for very large
/// fleets.
///
/// Model: between two changes a service is a fluid queue. Its replicas together serve c = sum of processes x b /
/// latency(b), where b is the largest usable batch that can still be in time; a backlog of q requests waits q / c, and
/// `room` = c x (target - latency) requests may wait and still be in time. With `drop: early` everything beyond the
/// room is dropped, and the rest is in time; with `never` an arrival is late if the backlog before it makes it so.
/// Arrivals vary within a second: the resulting loss and lateness near saturation are those of a Brownian motion with
/// the arrivals' variance (evenly spaced ones have none). Whole requests are settled, in order of arrival. Latencies
/// are estimates, and a drain takes no time. On goodput it agrees with serving request by request within 2 % if a
/// service is large enough (serving.h, sim/measure/rate_serving_test.cc, docs/explanation/simulation.md). The
/// exception: without drops, while the load stays within about one percent of the capacity, because means do not show
/// when such a queue grows. O(replicas) per second.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "domain/trace/run_arrivals.h"
#include "domain/values/scenario.h"
#include "sim/world/batch_tally.h"
#include "sim/world/latency_table.h"
#include "sim/world/service_meter.h"
#include "world/slices/busy_table.h"

namespace berth::sim {

class RateServing {
 public:
  /// References must outlive it; `streams` and `meters` by service.
  RateServing(const Scenario& scenario, const ArrivalStreams& streams, std::vector<ServiceMeter>& meters,
              world::BusyTable& busy, BatchTally& tally);

  // These functions mean the same as those of RequestServing.
  void open_second(std::int64_t second, const std::vector<bool>& is_mine);
  /// Advances to that time with the means of the span since the last call.
  void advance(std::int64_t until_us);
  void start(world::SliceIndex index, const Slice& slice, ServiceId service, std::shared_ptr<const LatencyTable> table,
             bool is_shared);
  void stop(world::SliceIndex index, ServiceId service);
  void set_table(world::SliceIndex index, ServiceId service, const std::shared_ptr<const LatencyTable>& table);
  void add_place() { services_.emplace_back(); }
  void abandon(ServiceId service, std::int64_t now_us);
  void set_stale(ServiceId service, bool is_stale) { services_[service.index].is_stale = is_stale; }
  [[nodiscard]] std::int64_t queued(ServiceId service) const { return services_[service.index].waiting_count; }
  /// Cohorts of requests that wait.
  [[nodiscard]] std::size_t entry_count() const;

 private:
  struct Replica {
    world::SliceIndex slice;
    GpuId gpu;
    ServiceId service;
    std::shared_ptr<const LatencyTable> table;
    bool is_shared = false;
    double busy_share = 0;  ///< in the last span
  };
  /// Waiting requests of one second, and perhaps of later ones. Those that will be in time come first.
  struct Cohort {
    std::int64_t second = 0;
    std::int64_t in_time = 0;
    std::int64_t late = 0;
    /// All requests of the seconds after `second` up to this one wait, too: their numbers are read from the arrivals
    /// again.
    std::int64_t last_second = 0;
    bool is_rest_late = false;  ///< whether those will be late
  };
  struct Service {
    std::vector<Replica> replicas;
    std::deque<Cohort> waiting;
    std::int64_t waiting_count = 0;
    std::int64_t arrivals_in_second = 0;
    std::int64_t arrived_in_second = 0;
    double served_carry = 0;  ///< fractions of requests
    double dropped_carry = 0;
    bool is_stale = false;
  };
  /// What the replicas of a service can serve together now.
  struct Capacity {
    double per_us = 0;         ///< requests per microsecond
    double room = 0;           ///< requests that may wait and still be in time
    double answer_room = 0;    ///< requests that may wait and still be answered
    double mean_accuracy = 0;  ///< in millionths, by share of capacity
  };

  /// The requests that wait longer than answers are wanted.
  void drop_old(std::size_t index, std::int64_t at_us);
  [[nodiscard]] bool is_answered_late(std::size_t index, std::int64_t second, std::int64_t at_us) const;
  void run_service(std::size_t index, std::int64_t until_us);
  [[nodiscard]] Capacity capacity_of(std::size_t index) const;
  void arrive(std::size_t index, const Capacity& capacity, std::int64_t until_us);
  /// Appends a cohort, merged into an earlier one if that keeps the order of requests: the number of cohorts depends on
  /// how often the queue turns from in time to late, not on its length.
  void join(std::size_t index, const Cohort& cohort);
  void fold_last(std::size_t index);
  /// Removes the head once none of its second is left.
  void leave_head(std::size_t index);
  void serve(std::size_t index, const Capacity& capacity, std::int64_t span_us, std::int64_t at_us);
  void drop_by_chance(std::size_t index, const Capacity& capacity, std::int64_t span_us, std::int64_t at_us);
  /// Drops `total` requests from the head of the queue. Requires: at least as many are waiting.
  void drop(std::size_t index, std::int64_t total, std::int64_t at_us);
  [[nodiscard]] double latency_at_load(const Service& service, double per_us) const;

  const Scenario& scenario_;
  const ArrivalStreams& streams_;
  std::vector<ServiceMeter>& meters_;
  world::BusyTable& busy_;
  BatchTally& tally_;
  std::vector<Service> services_;
  std::vector<double> busy_by_gpu_;  ///< sum of the busy shares of a GPU's replicas in the last span
  std::int64_t now_us_ = 0;
  std::int64_t second_ = -1;
};

}  // namespace berth::sim
