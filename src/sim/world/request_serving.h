/// Serving, request by request: queues, replicas with their processes, batches, drops.
///
/// A slice that serves is a replica with its point's processes. A free process (lowest GPU, start and process first)
/// takes waiting requests, up to the point's batch, and answers after the latency of the batch that it took: that of
/// its table, unless a fault says otherwise (BatchTruth). Drops and routes count on what is expected, not on that. With
/// `Dispatch::kPull` a service has one queue; with `kPush` each request goes on arrival to the replica chosen by ELSA's
/// rule (docs/reference/policies.md) and waits there.
///
/// Cost: O(log processes) per answer, O(log services) per arrival that finds a free process; arrivals at a service
/// whose processes are all busy cost nothing until one of them answers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "domain/trace/run_arrivals.h"
#include "domain/values/scenario.h"
#include "domain/values/serving_modes.h"
#include "sim/world/batch_tally.h"
#include "sim/world/batch_times.h"
#include "sim/world/batch_truth.h"
#include "sim/world/earliest.h"
#include "sim/world/latency_table.h"
#include "sim/world/request_queue.h"
#include "sim/world/service_meter.h"
#include "world/slices/busy_table.h"

namespace berth::sim {

class RequestServing {
 public:
  /// References must outlive it; `streams` and `meters` by service.
  RequestServing(const Scenario& scenario, const ArrivalStreams& streams, std::vector<ServiceMeter>& meters,
                 world::BusyTable& busy, BatchTally& tally, Dispatch dispatch);

  /// Opens the next second for arrivals, except for services that are served elsewhere. Requires: advanced to the
  /// beginning of that second.
  void open_second(std::int64_t second, const std::vector<bool>& is_elsewhere);

  /// Runs all answers and arrivals before `until_us`, but stops after an answer that leaves a stopped slice idle; the
  /// slices that became idle are in `take_idle()`. Returns the time reached, in microseconds.
  std::int64_t advance(std::int64_t until_us);
  [[nodiscard]] std::vector<world::SliceIndex> take_idle() { return std::exchange(idle_, {}); }

  /// A replica of `service` begins (stops) taking requests on a slice. `stop` returns whether the slice is already
  /// idle.
  void start(world::SliceIndex index, const Slice& slice, ServiceId service, std::shared_ptr<const LatencyTable> table,
             bool is_shared);
  [[nodiscard]] bool stop(world::SliceIndex index);
  /// The slice is gone at once, and with it the batches under way: their requests count as dropped. O(replicas there).
  void lose(world::SliceIndex index, std::int64_t now_us);
  void set_table(world::SliceIndex index, ServiceId service, const std::shared_ptr<const LatencyTable>& table);

  /// Makes a place for one more service.
  void add_place(const ArrivalStream& stream);
  /// The service's target and drop rule are read again.
  void read_spec(ServiceId service);
  /// Counts as dropped the service's waiting requests, and those of the open second that have not arrived. O(requests).
  void abandon(ServiceId service, std::int64_t now_us);
  /// How long the service's batches take from now on.
  void set_truth(ServiceId service, const BatchTruth& truth) { services_[service.index].truth = truth; }
  /// The times of batches that ended since the last call.
  [[nodiscard]] std::vector<BatchTimes> take_batch_times(std::int64_t second) { return batch_times_.take(second); }
  /// Whether a replica on the slice runs another number of processes than this table's point.
  [[nodiscard]] bool runs_other_processes(world::SliceIndex index, ServiceId service, const LatencyTable& table) const;
  /// Sets the accuracy in force for answers from now on.
  void set_stale(ServiceId service, bool is_stale) { services_[service.index].is_stale = is_stale; }

  /// Lets free processes take waiting requests, after slices have changed.
  void take_all(std::int64_t now_us);

  /// Ends the run: answers at `end_us` still count, but nothing is taken from the queues any more.
  void finish(std::int64_t end_us);

  [[nodiscard]] std::int64_t queued(ServiceId service, std::int64_t now_us);
  /// Places for replicas, in use or retired.
  [[nodiscard]] std::size_t place_count() const { return replicas_.size(); }
  /// Requests stored one by one because they were pushed (kPush), and running batches.
  [[nodiscard]] std::size_t entry_count() const;

 private:
  struct Process {
    std::uint32_t replica = 0;
    std::uint64_t rank = 0;  ///< orders by GPU, start, process, service
    bool is_busy = false;
    std::uint32_t batch_number = 0;  ///< an answer due for an earlier batch is void: that batch was lost
    std::int64_t begun_us = 0;
    std::int64_t table_us = 0;        ///< the table's time of its batch
    std::int64_t expected_us = 0;     ///< when its answer is expected; it may come at another time (BatchTruth)
    std::vector<std::int64_t> batch;  ///< arrival times
  };
  struct Replica {
    world::SliceIndex slice;
    GpuId gpu;
    ServiceId service;
    std::shared_ptr<const LatencyTable> table;
    bool is_shared = false;
    bool is_taking = true;
    int sms = 0;
    int busy_processes = 0;
    std::size_t place = 0;  ///< in the meter of batch times
    std::uint32_t first_process = 0;
    std::uint32_t process_count = 0;
    std::deque<std::int64_t> pushed;  ///< its own queue (kPush)
  };
  struct FreeProcess {
    std::uint64_t rank = 0;
    std::uint32_t process = 0;
    friend bool operator>(const FreeProcess& a, const FreeProcess& b) { return a.rank > b.rank; }
  };
  struct DueAnswer {
    std::int64_t at_us = 0;
    std::uint64_t rank = 0;
    std::uint32_t process = 0;
    std::uint32_t batch_number = 0;
    friend bool operator>(const DueAnswer& a, const DueAnswer& b) {
      return a.at_us != b.at_us ? a.at_us > b.at_us : a.rank > b.rank;
    }
  };
  struct Service {
    explicit Service(const ArrivalStream& stream) : queue(stream) {}
    RequestQueue queue;
    std::vector<FreeProcess> free;        ///< a heap, lowest rank first (kPull)
    std::vector<std::uint32_t> replicas;  ///< those that take requests, by rank
    std::deque<std::int64_t> unrouted;    ///< arrived while no replica took requests (kPush)
    std::int64_t target_us = 0;
    std::int64_t answer_us = 0;  ///< after which no answer is wanted
    bool drops_early = true;
    bool is_stale = false;
    BatchTruth truth;
  };

  // Both forms of dispatch.
  void answer(const DueAnswer& answer);
  void settle(const Service& service, Process& process, std::int64_t at_us);
  void lose_batch(Process& process, std::int64_t now_us);
  void set_next_arrival(std::size_t service);
  void begin_batch(std::uint32_t process, const BatchLatencies& latencies, std::int64_t now_us);
  [[nodiscard]] BatchLatencies latencies(const Replica& replica) const;

  // Pull.
  void pull(std::size_t service, std::int64_t now_us);
  [[nodiscard]] bool take_pulled(Service& service, std::uint32_t process, std::int64_t now_us);
  void add_free(Service& service, std::uint32_t process);

  /// A retired replica with that many processes, else a new one, so that memory does not grow with changes.
  [[nodiscard]] std::uint32_t place_for(std::uint32_t process_count);

  // Push.
  void route(std::size_t service, std::int64_t arrival_us, std::int64_t now_us);
  void route_waiting(std::size_t service, std::int64_t now_us);
  void serve_pushed(std::uint32_t replica, std::int64_t now_us);
  [[nodiscard]] std::int64_t predicted_answer(const Replica& replica, std::int64_t now_us) const;

  const Scenario& scenario_;
  std::vector<ServiceMeter>& meters_;
  world::BusyTable& busy_;
  BatchTally& tally_;
  BatchTimesMeter batch_times_;
  Dispatch dispatch_;
  std::vector<Service> services_;
  Earliest next_arrivals_;  ///< by service: when its next arrival is an event
  std::vector<Process> processes_;
  std::vector<Replica> replicas_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> retired_;  ///< idle stopped replicas, by processes
  std::vector<std::vector<std::uint32_t>> replicas_of_slice_;    ///< those that take requests, by SliceIndex
  std::vector<std::vector<std::uint32_t>> stopped_on_slice_;     ///< those that have stopped and still run batches
  std::vector<DueAnswer> answers_;                               ///< a heap, earliest first
  std::vector<world::SliceIndex> idle_;
};

}  // namespace berth::sim
