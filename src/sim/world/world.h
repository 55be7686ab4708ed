/// The simulated world: virtual clock, slices that change, services that serve and retrain. It carries out plans and
/// reports events; it decides nothing.
///
/// Events of one microsecond happen in this order: retraining and accuracy, slices, answers, arrivals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "base/core/rng.h"
#include "domain/trace/run_arrivals.h"
#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "sim/world/fault_book.h"
#include "sim/world/journal.h"
#include "sim/world/latency_table.h"
#include "sim/world/rented_gpus.h"
#include "sim/world/retraining_clock.h"
#include "sim/world/service_meter.h"
#include "sim/world/serving.h"
#include "sim/world/simulated_driver.h"
#include "sim/world/sm_time.h"
#include "sim/world/world_memory.h"
#include "sim/world/world_options.h"
#include "world/slices/busy_table.h"
#include "world/slices/device_memory.h"
#include "world/slices/outside_driver.h"
#include "world/slices/slice_table.h"

namespace berth::sim {

/// Sizes of the tables with one entry per object that comes and goes; tests check that they do not grow with time
/// (README.md lists the bound of each).
struct TableSizes {
  std::size_t slices = 0;  ///< indices, including free ones
  std::size_t slice_timers = 0;
  std::size_t replicas = 0;  ///< places of replicas that are served request by request, including retired ones
  std::size_t queued = 0;    ///< entries of the queues
  std::size_t open_seconds = 0;
  friend bool operator==(const TableSizes&, const TableSizes&) = default;
};

class World {
 public:
  /// `journal` may be empty.
  World(const Scenario& scenario, std::uint64_t seed, const WorldOptions& options, JournalSink journal);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Continues where another world ended, except for its requests: those that waited or were being answered are lost,
  /// and the rest of a second that had begun never arrives. `devices` by GpuId. A service whose revision differs
  /// (`revisions`, by ServiceId) starts again. Requires: nothing has happened yet.
  void resume(const WorldMemory& memory, const std::vector<world::DeviceMemory>& devices,
              const std::vector<std::uint64_t>& revisions);
  /// What `resume` needs; the caller counts `orders`. O(services + waiting faults), and O(slices of the GPU).
  [[nodiscard]] WorldMemory memory() const;
  [[nodiscard]] world::DeviceMemory memory_of(GpuId gpu) const;
  /// The GPUs whose memory may have changed since the last call, in no order.
  [[nodiscard]] std::vector<GpuId> take_changed_gpus() { return slices_.take_changed_gpus(); }
  /// Whether its memory has changed since the last call, apart from its clock, the GPUs and orders.
  [[nodiscard]] bool take_is_changed() {
    const bool is_fault_used = faults_.take_is_used();
    return std::exchange(is_changed_, false) || is_fault_used;
  }

  /// Begins a plan now. A first layout (StepAnswer::is_first_layout) is complete at once, and costs nothing.
  void act(const Plan& plan, Instant now, bool is_first_layout);

  /// Runs until `stop` or the first instant before it with an event that the engine should see at once (of a slice or a
  /// retraining), but at most until `until`, and returns that instant; its changes are done, its answers and arrivals
  /// are not. Splitting the way into several calls gives the same world, if the calls of other functions are the same.
  [[nodiscard]] Instant advance(Instant until, Instant stop);
  [[nodiscard]] Instant advance(Instant until) { return advance(until, until); }
  /// Events since the last call, in order of time.
  [[nodiscard]] std::vector<Event> take_events() { return std::exchange(events_, {}); }

  /// A GPU is lost now with all that it holds, or is back, empty. Actions on a lost GPU are ignored.
  void lose_gpu(GpuId gpu, Instant now, const std::string& reason = world::kSimulatedLoss);
  void return_gpu(GpuId gpu, Instant now);
  [[nodiscard]] bool is_lost(GpuId gpu) const { return lost_gpus_.contains(gpu); }
  /// What exists on a GPU, as its device reports it (SliceTable::observe). Requires: it is not lost.
  void see_gpu(GpuId gpu, const world::ObservedLayout& layout, Instant now);
  /// Devices::kOutside: the actions that can begin on devices and were not sent yet, in the order in which each GPU
  /// must get them.
  [[nodiscard]] std::vector<DeviceAction> device_actions() const;
  /// Remembers that all of these are sent now.
  void give_out_device_actions();
  /// Reports the end of one of them (SliceTable::end_device_action).
  void end_device_action(const world::DeviceActionEnd& end, Instant now);

  /// Programs on slices: SliceTable::program_slices, program_ready, program_gone, program_failed.
  [[nodiscard]] std::vector<world::ProgramSlice> program_slices() { return slices_.program_slices(); }
  /// SliceTable::adopt. Requires: the GPU is not lost.
  bool adopt(const Slice& slice, ServiceId service, std::uint64_t number, Instant now);
  void program_ready(const Slice& slice, std::uint64_t generation, Instant now);
  void program_gone(const Slice& slice, std::uint64_t generation, Instant now);
  void program_failed(const Slice& slice, std::uint64_t generation, const std::string& why, Instant now);

  /// Which GPUs are rented, and how long they were paid for.
  [[nodiscard]] const RentedGpus& rented() const { return rented_; }

  /// A service is set (see ServiceSet), or removed: its waiting requests are dropped, its running batches end. New
  /// arrivals begin with the next second; earlier requests that still wait then are dropped. A replica whose point the
  /// new spec does not list continues at the default point; one whose slice it does not list continues unchanged.
  void set_service(const ServiceSet& set, Instant now);
  void remove_service(ServiceId service, Instant now);
  /// Whether nothing of a removed service runs any more, so that another may take its place.
  [[nodiscard]] bool is_free(ServiceId service) const;
  /// Why a fault cannot be injected now: foreign slices do not fit, or too many faults wait.
  [[nodiscard]] std::optional<Error> find_reason_against(const FaultOrder& order) const;
  /// The number of a fault that can be injected now. Error: find_reason_against.
  [[nodiscard]] Result<std::uint64_t> admit(const FaultOrder& order);
  /// The fault takes effect now, or waits for actions; events report its effects. Without GPUs only its number is
  /// recorded. Requires: find_reason_against finds none.
  void inject(std::uint64_t id, const FaultOrder& order, Instant now);
  [[nodiscard]] const FaultBook& faults() const { return faults_; }

  /// The speed factors with which it continues: to be called before `resume`.
  void set_speeds(const SpeedFactors& speeds);
  /// From now on points and early drops count on another speed factor.
  void note_speed(const SpeedMeasured& measured, Instant now);

  /// Ends the run. Requires: advanced to `end`.
  void finish();

  [[nodiscard]] Instant end() const { return end_; }
  [[nodiscard]] const RunArrivals& arrivals() const { return arrivals_; }
  [[nodiscard]] const std::vector<ServiceMeter>& meters() const { return meters_; }
  [[nodiscard]] const world::SliceSums& slice_sums() const { return slices_.sums(); }
  /// SM-microseconds that one answer of a service costs at the best of the points that plans chose for it and that took
  /// effect; absent if none was chosen (slices then run at their default points).
  [[nodiscard]] std::optional<double> least_chosen_sm_us(ServiceId service) const {
    return least_chosen_sm_us_[service.index];
  }
  /// SM-time up to now, for the figures of a running world. O(slices).
  [[nodiscard]] SmTime sm_time();
  /// When slices were running something; complete after finish().
  [[nodiscard]] const world::BusyTable& busy() const { return busy_; }
  [[nodiscard]] TableSizes table_sizes() const;

 private:
  /// Returns how they are served (Serving::restore_ways).
  [[nodiscard]] std::vector<bool> resume_services(const std::vector<ServiceMemory>& services,
                                                  const std::vector<std::uint64_t>& revisions);
  /// Passes records of slices on to the journal; empty if the journal is.
  [[nodiscard]] world::SliceJournal slice_journal();
  void add_place();
  void renew_slices_of(ServiceId service, Instant now);
  void restart_retraining(ServiceId service, Instant now);
  void stop_retraining(ServiceId service, Instant now);
  void begin_new_arrivals(std::int64_t second);
  void change_way(ServiceId service);
  void clear_faults(const FaultOrder& clear, Instant now);
  void set_truth(ServiceId service);
  [[nodiscard]] bool has_service(ServiceId service) const;
  void open_second_at(Instant now);
  void close_second(std::int64_t second);
  void order_gpus(const Plan& plan, Instant now);
  void note_arrived_gpus(Instant now);
  void give_back_gpus(Instant now);
  [[nodiscard]] Instant next_change() const;
  [[nodiscard]] std::vector<ServiceId> retrainings_at(Instant now) const;
  void do_changes(Instant now);
  void settle_effects(Instant now);
  void choose_ways(const Plan& plan);
  void start_slice(world::SliceIndex index, Instant now);
  void stop_slice(world::SliceIndex index, Instant now);
  void lose_slice(world::SliceIndex index, Instant now);
  [[nodiscard]] std::shared_ptr<const LatencyTable> table_of(const world::TrackedSlice& slice, ServiceId service);
  void renew_tables(world::SliceIndex index);
  void note_point(const world::TrackedSlice& slice, ServiceId service, const LatencyTable& table);
  void change_retraining(ServiceId service, const std::function<RetrainingNews(RetrainingClock&)>& change, Instant now);
  void report_retraining(ServiceId service, const RetrainingNews& news, Instant now);
  void note_retraining(world::SliceEvent event, world::SliceIndex index, Instant now);
  [[nodiscard]] bool is_silent(std::size_t service) const { return !has_load_ || (only_ && only_->index != service); }

  Scenario scenario_;  ///< its services change
  JournalSink journal_;
  std::function<void(const MeasuredSecond&)> second_measured_;
  std::function<void(const std::vector<BatchTimes>&)> batches_measured_;
  std::uint64_t seed_;
  Instant end_;
  Instant now_;
  bool is_rough_;
  bool has_load_;
  std::optional<ServiceId> only_;
  RunArrivals arrivals_;
  std::vector<ServiceMeter> meters_;
  world::BusyTable busy_;
  LatencyTables tables_;
  FaultBook faults_;
  SimulatedDriver simulated_driver_;
  world::OutsideDriver outside_driver_;
  world::SliceTable slices_;  ///< with the driver of WorldOptions::devices
  RentedGpus rented_;
  Serving serving_;
  std::vector<std::optional<RetrainingClock>> retrainings_;       ///< by service
  std::set<std::pair<Instant, std::uint32_t>> retraining_times_;  ///< when each next changes by itself, and its service
  std::vector<std::optional<double>> least_chosen_sm_us_;         ///< by service
  std::set<GpuId> lost_gpus_;
  std::map<ServiceId, std::uint64_t> new_arrivals_;  ///< revisions whose arrivals begin with the next second
  std::vector<Event> events_;
  std::vector<ArrivalsMemory> arrivals_from_;  ///< by service, except `new_arrivals_`
  std::vector<std::uint64_t> revisions_;       ///< by service: ServiceSet::revision
  bool is_changed_ = false;                    ///< retraining or arrivals, since take_is_changed
  std::int64_t open_second_ = -1;
};

}  // namespace berth::sim
