/// A running engine on a simulated fleet, with what people ask of it: recent events and plans. Pure: whoever drives it
/// has the clock, the threads and the lock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "base/core/shared_list.h"
#include "domain/values/held_bytes.h"
#include "domain/values/node.h"
#include "domain/values/scenario.h"
#include "domain/values/series.h"
#include "live/session/catalog.h"
#include "live/session/change_samples.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/live_figures.h"
#include "live/session/lost_slices.h"
#include "live/session/object_names.h"
#include "live/session/order_batch.h"
#include "live/session/plan_log.h"
#include "live/session/promise_book.h"
#include "live/session/series_book.h"
#include "live/session/service_watch.h"
#include "live/session/usage_book.h"
#include "sim/world/fault_book.h"
#include "sim/world/loop.h"
#include "world/slices/device_memory.h"
#include "world/slices/observed_layout.h"
#include "world/slices/slice_records.h"

namespace berth::live {

struct SessionOptions {
  std::uint64_t seed = 1;
  std::string policy = "berth";  ///< a row of the registry that needs no hindsight
  Approval approval = Approval::kNever;
  /// The windows without changes from the first step on; absent: those that were recorded, at first none.
  std::optional<NoChanges> no_changes;
  /// A world of real GPUs: those that must not be changed from the first step on, and why (observed_gpus.h). Absent:
  /// there are none, as the devices are simulated.
  std::optional<std::map<GpuId, std::string>> observed = std::nullopt;
  sim::Devices devices = sim::Devices::kSimulated;  ///< who creates and destroys slices
  /// sim::Devices::kOutside: the number of the next intent.
  std::function<std::uint64_t()> next_intent;
  /// The id of the machine's boot, which is recorded: after another boot nothing that was created stands. Nothing: it
  /// cannot be recorded now.
  std::function<std::optional<std::string>()> boot;
  double device_speed = 1;  ///< sim::Devices::kOutside: seconds of the world in each second of the devices; > 0
  /// The first layout obeys approval, pause and windows without changes, and takes its time, as on devices that exist
  /// (EngineRules). A session that is restored or repeated must have the same value.
  bool first_layout_takes_time = false;
  /// Services get simulated requests and retrain; without, nothing is known of their load.
  bool has_load = true;
  /// Between two plans of the policy `berth`; absent: as in a replay. For tests of long worlds.
  std::optional<int> planning_seconds = std::nullopt;
  /// What tenants and the services that are set may hold together (domain/values/held_bytes.h).
  std::int64_t held_bytes_max = kHeldBytesMax;
  bool has_end = false;      ///< the world ends with the scenario's longest window, and plans count on that
  sim::JournalSink journal;  ///< may be empty
  /// Gets every entry as it happens, to be recorded soon. May be empty.
  EntrySink entries;
  /// Records what was told, and orders of people and answers of the solver before anything comes of them. Empty: they
  /// are told like all others.
  EntryRecorder record;
  /// Gets what the world remembers whenever it has changed or its clock went on. May be empty.
  std::function<void(const WorldChanges&)> world_changed;
  /// Gets each interval of usage that is over, after the entry of the step in which it ended: both are to be recorded
  /// together. May be empty.
  UsageSink usage;
  /// The same while entries are repeated, when they are recorded already. May be empty.
  UsageSink past_usage;
  /// Sees each event that the engine is given, and each order of the world before it is carried out, in their order and
  /// also while entries are repeated. May be empty.
  std::function<void(const Event&)> seen;
  std::function<void(const sim::Order&)> ordered;
  /// Gets what each second of the world brought, soon after it: names of services at first, and again every minute. May
  /// be empty.
  std::function<void(SeriesSpan)> series;
  /// Called when a service has its place, before anything happens to it. May be empty.
  std::function<void(ServiceId)> service_set;
  /// The wall clock in microseconds since 1970: a proposal waits for kProposalWait of it; empty: for ever.
  std::function<std::int64_t()> wall_clock;
  /// Receives the questions of the engine; empty: each is answered at once, as in a replay.
  std::function<void(SolveRequest)> solve_elsewhere;
  /// The world stands still while something is solved elsewhere, and answers act when they do in a replay.
  bool waits_for_solver = false;
  std::function<bool(Instant)> restores_engine_at;  ///< sim::LoopOptions; for tests
};

/// What a device outside is to do, with the number under which the journal has it.
struct DeviceIntent {
  std::uint64_t number = 0;
  DeviceAction action;
  friend bool operator==(const DeviceIntent&, const DeviceIntent&) = default;
};

/// How long a proposal waits for approval, in wall time.
inline constexpr Micros kProposalWait = Micros::seconds(60);

/// What came of an approval.
enum class ApprovalOutcome : std::uint8_t {
  kAccepted,     ///< the plan takes effect
  kUnknown,      ///< there is no such plan, or it is forgotten
  kNotWaiting,   ///< its phase says what it is instead
  kPaused,       ///< planning is paused; the plan still waits
  kChanged,      ///< PlanStatus::difference says what has changed since it was made
  kNotRecorded,  ///< the approval could not be recorded
};

class Session {
 public:
  /// Error: the policy cannot run here.
  [[nodiscard]] static Result<std::unique_ptr<Session>> make(Scenario scenario, SessionOptions options);
  /// For `make`, which checks the options.
  Session(Scenario scenario, SessionOptions options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The first layout is decided and in place, or under way if it takes its time. It leaves alone what stands on
  /// devices outside already: `sights`.
  void begin(const std::map<GpuId, world::ObservedLayout>& sights = {});
  /// Whether it is at rest: no question to the solver is open, and nothing waits for a step. Only then it can be saved.
  [[nodiscard]] bool is_at_rest() const { return loop_->is_at_rest(); }
  /// Everything that it remembers, as bytes: what was told up to now is in them, which is told to its end before.
  /// Figures of the last minute are not (restore_figures). Requires: is_at_rest. O(its size).
  [[nodiscard]] std::string save();
  /// Becomes the session that was saved. Returns the names of stages that begin anew, as a later version wrote what
  /// they remember. Error: the bytes are of another scenario, of a later version, or damaged; then this one is useless.
  /// Requires: the same scenario and options; this one has not begun.
  [[nodiscard]] Result<std::vector<std::string>> restore(std::string_view bytes);
  /// Becomes the session that got these entries: from the first one on, or after what was restored. The world had
  /// carried out that many orders. Nothing is solved. Requires: this one has the same scenario and options, and has not
  /// begun; they are in order.
  void repeat(const std::vector<Entry>& entries, std::uint64_t carried_out);
  /// The figures of the last minute go on, too: these are the seconds before the instant at which the world goes on, as
  /// `SessionOptions::series` got them, in order. At least kMinuteSeconds + kTargetSecondsMax of them, as far as they
  /// are known. Those of services that are gone count for nothing. To be called before `resume`.
  void restore_figures(const std::vector<SeriesSpan>& seconds);
  /// Goes on behind what was repeated, with what the world remembers.
  void resume(sim::WorldLeft left);
  /// What a session needs of the world to go on.
  [[nodiscard]] sim::WorldLeft world_left() const;
  /// How many orders the world was given.
  [[nodiscard]] std::uint64_t order_count() const { return loop_->order_count(); }
  /// Entries of seconds that are not complete blocks yet. To be called before the session is put away.
  void tell_all();
  /// That the clock went on is told, too. To be called from time to time.
  void tell_clock();
  /// Goes on towards `until`, by at most one step of the engine; returns whether there was one. Between steps only the
  /// simulated world goes on. While an answer is awaited nothing does.
  bool advance(Instant until);
  [[nodiscard]] bool is_over() const { return loop_->is_over(); }
  /// Ends a world that is over, as a replay does: what is not answered is journaled as unfinished. To be called last.
  void finish();
  /// The solution of the open question. Returns whether it was recorded: only then it will be delivered.
  bool answer(SolveFinished finished);
  /// Whether the world stands still until `answer` (SessionOptions::waits_for_solver).
  [[nodiscard]] bool awaits_answer() const { return loop_->awaits_answer(); }

  /// Creates or replaces an object. Refused if it grew and all together held more than
  /// SessionOptions::held_bytes_max. `version`: the one that must be stored. A service begins with no slice; its
  /// arrivals begin with the next second.
  [[nodiscard]] tl::expected<SetResult, ObjectRefusal> set_tenant(const std::string& name, Labels labels,
                                                                  const std::optional<std::string>& version);
  [[nodiscard]] tl::expected<SetResult, ObjectRefusal> set_service(const ServiceName& name, ServiceSpec spec,
                                                                   Labels labels,
                                                                   const std::optional<std::string>& version);
  /// Why nobody may set it now who saw that version, whatever the spec.
  [[nodiscard]] std::optional<ObjectRefusal> find_refusal(const ServiceName& name,
                                                          const std::optional<std::string>& version) const;
  /// The service is gone at once; its slices drain. `version`: the one that must be stored.
  [[nodiscard]] tl::expected<void, ObjectRefusal> remove_service(
      const ServiceName& name, const std::optional<std::string>& version = std::nullopt);

  // The same for many at a time: they are checked and added to a batch, then announced, recorded by the caller, and
  // carried out in one step. From the first check to the end only reading is allowed in between.
  [[nodiscard]] tl::expected<SetResult, ObjectRefusal> add_service(OrderBatch& batch, const ServiceName& name,
                                                                   ServiceSpec spec, Labels labels,
                                                                   const std::optional<std::string>& version,
                                                                   RowsBlobs blobs = {}) const;
  [[nodiscard]] tl::expected<void, ObjectRefusal> add_removal(OrderBatch& batch, const ServiceName& name,
                                                              const std::optional<std::string>& version) const;
  /// What was told before is told to its end: the orders' rows come next.
  void announce(const OrderBatch& batch) { note_told(batch.entries().front().at); }
  /// They are recorded.
  void carry_out(const OrderBatch& batch);
  /// All of that. Returns whether they were recorded.
  [[nodiscard]] bool commit(const OrderBatch& batch);

  [[nodiscard]] tl::expected<void, ObjectRefusal> remove_tenant(
      const std::string& name, const std::optional<std::string>& version = std::nullopt);
  [[nodiscard]] const Catalog& catalog() const { return catalog_; }
  /// What all objects hold of SessionOptions::held_bytes_max. O(objects).
  [[nodiscard]] std::int64_t held_bytes() const;

  // Orders that return a bool say whether they were recorded: only then anything comes of them.
  bool schedule(GpuId gpu, GpuScheduling scheduling, const std::string& reason) {
    return schedule_all({.first = gpu, .count = 1}, scheduling, reason);
  }
  /// All of them in one step.
  bool schedule_all(GpuRange gpus, GpuScheduling scheduling, const std::string& reason);
  /// Approves the plan that waits. `reason` may be empty.
  ApprovalOutcome approve(std::uint64_t plan, std::string reason);
  /// The plan that waits expires if its time is over. To be called from time to time, at best at that time.
  void expire_overdue();
  /// Of the latest order: why it was not recorded.
  [[nodiscard]] std::string why_not_recorded() const { return why_not_recorded_.value_or(""); }
  /// From now on no plan takes effect and nothing is asked; actions that run go on. A solution that still arrives is
  /// dropped, and a plan that waits for approval goes on waiting. Paused already: the reason is replaced.
  bool pause(std::string reason);
  bool resume(std::string reason);
  /// From now on these are the windows without changes. Those that are in force already are no order. Requires: sound.
  bool set_no_changes(NoChanges windows);
  /// A fault of the simulated world, seen by the engine at once. Returns its number. Error: World::inject.
  Result<std::uint64_t> inject(const sim::FaultOrder& order);
  // What the devices of a world of real GPUs show, now. Requires: not over, awaits no answer.
  /// What stands on a GPU: what nobody here made is of others, what is gone is reported, and what a change that was cut
  /// off has left is destroyed.
  void see_gpu(GpuId gpu, const world::ObservedLayout& sight);
  void lose_gpu(GpuId gpu, const std::string& reason);
  void return_gpu(GpuId gpu);
  /// What devices outside are to do, each once (SessionOptions::devices), recorded before anybody has it. Empty:
  /// nothing, or it could not be recorded, and comes again.
  [[nodiscard]] std::vector<DeviceIntent> take_device_intents();
  /// How much is known of an intent that ended.
  enum class EndKind {
    kKnown,
    kUnknown,  ///< not done, and nobody knows what was
    kLate,     ///< it had been given up, and told as unknown before
  };
  /// One of them ended.
  void end_device_intent(const DeviceIntent& intent, const DeviceEnded& ended, EndKind kind = EndKind::kKnown);
  /// A GPU's MIG mode is to be turned on. Returns the number of the intent. Nothing: it could not be recorded.
  [[nodiscard]] std::optional<std::uint64_t> intend_mig_mode(GpuId gpu);
  void end_mig_mode_intent(GpuId gpu, const DeviceEnded& ended);
  /// How long changes took on devices outside, in time of the world: by kind, as far as any was measured. Plans count
  /// on them (Scenario::measured_times) from a few samples on. O(kinds).
  [[nodiscard]] MeasuredTimes device_times() const;
  /// From now on a GPU must not be changed for this reason; none: it may be. Returns whether that was recorded.
  bool observe(GpuId gpu, const std::optional<std::string>& why);
  /// What a device said is told, and becomes an event.
  void note_device(const DeviceNoted& noted);
  /// The latest such text of the GPU, of those that are kept (EventLog): what was told before is no news after a
  /// restart.
  [[nodiscard]] std::optional<std::string> last_note(GpuId gpu, DeviceNote note) const;
  [[nodiscard]] const sim::FaultBook& faults() const { return loop_->world().faults(); }

  [[nodiscard]] Instant now() const { return loop_->now(); }
  /// Fleet and services as they are now. Places of removed services keep their names until others take them.
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const Snapshot& snapshot() const { return loop_->engine().snapshot(); }
  [[nodiscard]] bool is_solving() const { return loop_->engine().has_open_question(); }
  /// Brings `watch` up to date. To be called before it is read. O(1) without a step since the last call.
  void refresh();
  [[nodiscard]] const ServiceWatch& watch() const { return watch_; }
  [[nodiscard]] const LiveFigures& figures() const { return figures_; }
  [[nodiscard]] const LostSlices& lost_slices() const { return lost_slices_; }
  /// Of a slice of the snapshot, by its index there.
  [[nodiscard]] SliceState slice_state(std::size_t index) const;
  /// The usage that goes on.
  [[nodiscard]] const UsageBook& usage() const { return usage_; }
  /// What the engine knows of the GPU, with what was ordered since its last step.
  [[nodiscard]] GpuState gpu_state(GpuId gpu) const;
  [[nodiscard]] const EventLog& events() const { return events_; }
  /// The last event that a kill cannot take back: others must not be told to anybody who counts on it.
  [[nodiscard]] std::uint64_t last_safe_event() const {
    return options_.record ? recorded_event_ : events_.last_sequence();
  }
  /// All that was told is recorded.
  void note_recorded() { recorded_event_ = events_.last_sequence(); }
  [[nodiscard]] const PlanLog& plans() const { return plans_; }
  [[nodiscard]] const PromiseBook& promises() const { return promises_; }
  [[nodiscard]] const std::optional<std::string>& infeasible() const { return loop_->infeasible(); }
  [[nodiscard]] std::uint64_t step_count() const { return step_count_; }

 private:
  // What is told to the sink of entries (session_entries.cc).
  void tell(Entry entry);
  /// To be called before an entry is told.
  void note_told(Instant at);
  void tell_world(bool with_clock);
  void tell_event(const Event& event);
  void tell_second(const ServiceSecond& second);
  void tell_step(const StepAnswer& answer);
  void tell_block(ServiceId service);
  void tell_blocks();

  [[nodiscard]] tl::unexpected<ObjectRefusal> not_recorded() const;
  /// What a service holds of held_bytes_max. The tables of one that is as it was at the beginning are not its own.
  [[nodiscard]] std::int64_t held_by(const ServiceEntry& service) const;
  /// Whether no object may hold that much more, after what the batch adds. O(objects) where it grows.
  [[nodiscard]] std::optional<ObjectRefusal> find_excess(std::int64_t growth, const OrderBatch& batch = {}) const;
  /// Records the orders and carries them out, with one step for those that are events. Returns whether.
  [[nodiscard]] bool order(const std::vector<Entry>& orders);
  /// Returns whether they are recorded.
  [[nodiscard]] bool record_order(const std::vector<Entry>& orders);
  void carry_out(const std::vector<Entry>& orders);
  /// The orders that lead to the windows and the observed GPUs of the options, recorded; none: that is in force, or
  /// they are not recorded.
  [[nodiscard]] std::vector<Event> orders_of_start(Instant at);

  // What an entry does, when it happens and when it is repeated.
  void store(const TenantStored& stored);
  void store(const TenantDropped& dropped);
  void store(const ServiceStored& stored);
  void store(const ServiceDropped& dropped);
  void note_fault(const FaultGiven& given);
  void log_device(const DeviceNoted& noted);
  void note_intended(const DeviceIntended& intended);
  std::optional<ChangeKind> note_ended(const DeviceEnded& ended) { return samples_.end(ended); }
  [[nodiscard]] MeasuredTime in_world_time(MeasuredTime time) const;
  /// Plans count on measured times from now on, where it is worthwhile.
  void learn_time(const ChangeKind& change);
  void wait_for_approval(const ProposalWaits& waits);
  template <class Archive>
  void archive_memory(Archive& archive, int& format);
  template <class Archive>
  void archive_services(Archive& archive);
  template <class Archive>
  void archive_blobs(Archive& archive);
  class Repetition;
  /// Slices that came, began to serve or went while nobody watched: people are told of them now.
  void note_unseen(const sim::WorldLeft& left);
  void note_unseen(GpuId gpu, const world::DeviceMemory& device, Instant at);

  void list_objects();
  [[nodiscard]] ServiceId place_for_new(const OrderBatch& batch) const;
  /// Whether the question that is open was posed while the service of that place was still there.
  [[nodiscard]] bool is_in_open_question(ServiceId place) const;
  void note_record(const sim::JournalRecord& record);
  void note_lost(const world::SliceRecord& record);
  void note_event(const Event& event);
  /// The holders of these slices do not have them as they should.
  void note_failed(const auto& slices, const std::string& how);
  void note_observed(const Event& event, const GpuObserved& observed);
  void note_times(const Event& event, const TimesMeasured& measured);
  void note_answer(const StepAnswer& answer);
  void note_step(const StepAnswer& answer);
  void note_arrival(const std::shared_ptr<const Plan>& arrived, const StepAnswer& answer);
  void note_end_of_proposal(const StepAnswer& answer);
  void note_changes(const std::vector<ActionChange>& changes);
  /// Pauses planning where promises have failed.
  void keep_promises();
  void forget(ServiceId service);
  void note_drained();
  /// To be called after steps: the first one of a second reads the fleet's sums, and brings `watch` up to date.
  void after_step();
  void read_sums();
  void note_measured(const sim::MeasuredSecond& measured);
  void give_series(const std::optional<FleetFigures>& fleet);
  /// Returns whether there is something new.
  bool update_watch();
  void append(Instant at, EventKind kind, ObjectName object, std::string message);

  Scenario scenario_;
  SharedList<ServiceSpec> first_services_;  ///< those that it was made with
  Catalog catalog_;
  std::uint64_t last_revision_ = 0;
  SessionOptions options_;
  EventLog events_;
  PlanLog plans_;
  std::shared_ptr<const Solution> arrived_;          ///< in the step to come; null: none
  std::string approval_reason_;                      ///< of the last approval
  std::vector<ActionFailed> failed_;                 ///< since the last step
  std::uint64_t asked_count_ = 0;                    ///< SolveRequest::question of the latest one
  std::map<ServiceId, std::uint64_t> asked_before_;  ///< `asked_count_` when the service of a free place went
  std::uint64_t step_count_ = 0;
  std::uint64_t refreshed_step_ = 0;
  ServiceWatch watch_;
  LiveFigures figures_;
  SeriesBook series_;
  LostSlices lost_slices_;
  UsageBook usage_;
  PromiseBook promises_;
  ChangeSamples samples_;
  std::int64_t read_second_ = -1;          ///< the last one in which the fleet's sums were read
  bool has_unrecorded_sight_ = false;      ///< a second showed something new, of which no row tells yet
  std::set<GpuId> draining_;               ///< as far as the engine knows
  std::map<GpuId, GpuScheduled> ordered_;  ///< since the last step
  bool is_repeating_ = false;
  std::optional<Instant> stepped_at_;  ///< the last step that was told, plain or not
  std::uint64_t recorded_event_ = 0;
  std::optional<std::string> why_not_recorded_;
  std::uint64_t told_orders_ = 0;                   ///< in the latest WorldMemory that was told
  std::uint64_t known_question_ = 0;                ///< whose answer was told
  std::vector<std::optional<SecondsSeen>> blocks_;  ///< by ServiceId: what is not told yet
  bool has_news_ = true;                            ///< besides seconds, since the last step
  std::optional<Instant> plain_step_;               ///< the last step, if no entry tells of it
  std::unique_ptr<sim::Loop> loop_;
};

}  // namespace berth::live
