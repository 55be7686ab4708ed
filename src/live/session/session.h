/// A running engine on a simulated or real fleet, with what clients see of it: recent events and plans. Pure: the
/// caller has the clock, the threads and the lock.
///
/// A session begins, advances, answers and is saved; the rest is in parts of its own: objects and their limits
/// (session_objects.h), the entries that it emits (entry_emitter.h), what clients are shown (session_log.h), changes of
/// outside devices (device_changes.h), figures (series_feed.h), and what was measured of tables and forecasts
/// (speed_estimator.h, forecast_book.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/change_times.h"
#include "domain/values/gpu_state.h"
#include "domain/values/slice.h"
#include "domain/values/tier_rule.h"
#include "domain/values/warm_state.h"
#include "live/session/catalog.h"

namespace berth {
struct Event;
struct GpuRange;
struct NoChanges;
struct RequestReport;
struct Scenario;
struct ServiceSpec;
struct SeriesSpan;
struct ServiceSecond;
struct Snapshot;
struct SolveFinished;
struct StepAnswer;
}  // namespace berth

namespace berth::sim {
class FaultBook;
class Loop;
struct BatchTimes;
struct FaultOrder;
struct LoopOptions;
struct WorldLeft;
}  // namespace berth::sim

namespace berth::world {
struct DeviceMemory;
struct ObservedLayout;
struct ProgramSlice;
struct SliceRecord;
}  // namespace berth::world

namespace berth::live {

namespace testing {
class SessionEngine;
}

class DeviceChanges;
class EntryEmitter;
class EventLog;
class ForecastBook;
class LiveFigures;
class LostSlices;
class OrderBatch;
class PlanLog;
class PromiseBook;
class RequestBook;
class SeriesFeed;
class ServiceWatch;
class SessionLog;
class SessionObjects;
class SpeedEstimator;
class UsageBook;
enum class DeviceNote : std::uint8_t;
enum class SliceState : std::uint8_t;
struct DeviceEnded;
struct DeviceIntent;
struct DeviceNoted;
struct Entry;
struct ProgramNoted;
struct ForeignHeld;
struct ProposalWaits;
struct ServiceDropped;
struct SecondsMeasured;
struct ServiceStored;
struct SessionOptions;
struct TenantDropped;
struct TenantStored;

/// How long a proposal waits for approval, in wall time.
inline constexpr Micros kProposalWait = Micros::seconds(60);

/// The outcome of an approval.
enum class ApprovalOutcome : std::uint8_t {
  kAccepted,     ///< the plan takes effect
  kUnknown,      ///< the plan does not exist, or is forgotten
  kNotWaiting,   ///< PlanStatus::phase says why
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
  ~Session();

  /// The first layout is decided and in place, or under way if it takes its time. It leaves alone what already exists
  /// on outside devices: `sights`.
  void begin(const std::map<GpuId, world::ObservedLayout>& sights);
  void begin();
  /// Whether it is at rest: no question to the solver is open, and nothing waits for a step. It can be saved only then.
  [[nodiscard]] bool is_at_rest() const;
  /// Its whole memory, as bytes, with everything emitted up to now, which is completed first. Figures of the last
  /// minute are not included (restore_figures). Requires: is_at_rest. O(its size).
  [[nodiscard]] std::string save();
  /// Becomes the session that was saved. Returns the names of stages that start again, as a later version wrote their
  /// memory. Error: the bytes are of another scenario, of a later version, or damaged; this session is then unusable.
  /// Requires: the same scenario and options; this one has not begun. The fleet may have more GPUs, behind those of the
  /// saved one; they are absent (GpuScheduling::kAbsent) until they are opened.
  [[nodiscard]] Result<std::vector<std::string>> restore(std::string_view bytes);
  /// Becomes the session that was given these entries: from the first one on, or after what was restored. The world had
  /// carried out that many orders. Nothing is solved. Requires: this one has the same scenario and options, and has not
  /// begun; the entries are in order.
  void repeat(const std::vector<Entry>& entries, std::uint64_t carried_out);
  /// Restores the figures of the last minute. `seconds`: those before the instant at which the world continues, as
  /// `SessionListener::series` received them, in order; at least kMinuteSeconds + kTargetSecondsMax of them, if so many
  /// are known. Services that are gone are ignored. To be called before `resume`.
  void restore_figures(const std::vector<SeriesSpan>& seconds);
  /// Continues after what was repeated, with what the world remembers. `clock`: the world's time now; if it is later
  /// than what is known, the time between was not observed (skip_to). Absent: no time has passed.
  void resume(sim::WorldLeft left, std::optional<Instant> clock = std::nullopt);
  /// Its clock goes on to `at` at once, as nothing was observed since `now`: the engine does not step in between, and
  /// what was held is usage that was not observed (UsageInterval::is_observed). The world then reports what happened by
  /// itself meanwhile. Does nothing if `at` is not later than now, or the world is over or awaits an answer.
  void skip_to(Instant at);
  /// What a session needs of the world to continue.
  [[nodiscard]] sim::WorldLeft world_left() const;
  /// How many orders the world was given.
  [[nodiscard]] std::uint64_t order_count() const;
  /// Emits the seconds that do not fill a block yet. To be called before the session is discarded.
  void emit_all();
  /// Reports the advance of the clock, too. To be called from time to time.
  void report_clock();
  /// Advances towards `until`, by at most one step of the engine; returns whether there was one. Between steps only the
  /// simulated world advances. While an answer is awaited nothing does.
  bool advance(Instant until);
  [[nodiscard]] bool is_over() const;
  /// Ends a world that is over, as a replay does: requests not answered are journaled as unfinished. To be called last.
  void finish();
  /// The solution of the open question. Returns whether it was recorded; otherwise it is not delivered.
  bool answer(SolveFinished finished);
  /// Whether the world waits for `answer` (Solving::kElsewhereWaiting).
  [[nodiscard]] bool awaits_answer() const;

  /// Creates or replaces an object. Refused if it grew and all objects together would hold more than
  /// SessionOptions::held_bytes_max. `version`: the one that must be stored. A service begins without slices; its
  /// arrivals begin with the next second.
  [[nodiscard]] tl::expected<SetResult, ObjectRefusal> set_tenant(const std::string& name, Labels labels,
                                                                  const std::optional<std::string>& version);
  [[nodiscard]] tl::expected<SetResult, ObjectRefusal> set_service(const ServiceName& name, ServiceSpec spec,
                                                                   Labels labels,
                                                                   const std::optional<std::string>& version);
  /// Why a client that saw that version may not set it now, whatever the spec.
  [[nodiscard]] std::optional<ObjectRefusal> find_refusal(const ServiceName& name,
                                                          const std::optional<std::string>& version) const;
  /// The service is gone at once; its slices drain. `version`: the one that must be stored.
  [[nodiscard]] tl::expected<void, ObjectRefusal> remove_service(
      const ServiceName& name, const std::optional<std::string>& version = std::nullopt);

  // The same for many at a time: they are checked and added to a batch, then announced, recorded by the caller, and
  // carried out in one step. From the first check until then the session may only be read.
  [[nodiscard]] tl::expected<SetResult, ObjectRefusal> add_service(OrderBatch& batch, const ServiceName& name,
                                                                   ServiceSpec spec, Labels labels,
                                                                   const std::optional<std::string>& version,
                                                                   RowsBlobs blobs = {}) const;
  [[nodiscard]] tl::expected<void, ObjectRefusal> add_removal(OrderBatch& batch, const ServiceName& name,
                                                              const std::optional<std::string>& version) const;
  /// Completes what was emitted before: the orders' rows come next.
  void announce(const OrderBatch& batch);
  /// Carries the orders out. Requires: they are recorded.
  void carry_out(const OrderBatch& batch);
  /// All of that. Returns whether the orders were recorded.
  [[nodiscard]] bool commit(const OrderBatch& batch);

  [[nodiscard]] tl::expected<void, ObjectRefusal> remove_tenant(
      const std::string& name, const std::optional<std::string>& version = std::nullopt);
  [[nodiscard]] const Catalog& catalog() const;
  /// What all objects hold together, limited by SessionOptions::held_bytes_max. O(objects).
  [[nodiscard]] std::int64_t held_bytes() const;

  // Orders that return a bool say whether they were recorded: otherwise they have no effect.
  bool schedule(GpuId gpu, GpuScheduling scheduling, const std::string& reason);
  /// All of them in one step.
  bool schedule_all(GpuRange gpus, GpuScheduling scheduling, const std::string& reason);
  /// Approves the plan that waits. `reason` may be empty.
  ApprovalOutcome approve(std::uint64_t plan, std::string reason);
  /// Lets the waiting plan expire if its time is over. To be called from time to time, ideally at that time.
  void expire_overdue();
  /// Why the latest order was not recorded.
  [[nodiscard]] std::string why_not_recorded() const;
  /// From now on no plan takes effect and nothing is asked; running actions continue. A solution that still arrives is
  /// dropped, and a plan that waits for approval keeps waiting. If paused already, replaces the reason.
  bool pause(std::string reason);
  bool resume(std::string reason);
  /// Sets the windows without changes; those already in force are not an order. Requires: the windows are sound.
  bool set_no_changes(NoChanges windows);
  /// A fault of the simulated world, seen by the engine at once. Returns its number. Error: World::inject.
  Result<std::uint64_t> inject(const sim::FaultOrder& order);
  // What the devices of a world of real GPUs report now. Requires: not over, awaits no answer.
  /// What exists on a GPU: slices not created here are foreign, missing ones are reported, and orphans of an
  /// interrupted change are destroyed.
  void see_gpu(GpuId gpu, const world::ObservedLayout& sight);
  /// Who holds the foreign slices of a GPU from now on, as far as that is known: usage is theirs (UsageBook).
  void hold_foreign(GpuId gpu, const std::map<Slice, std::string>& tenants);
  void lose_gpu(GpuId gpu, const std::string& reason);
  void return_gpu(GpuId gpu);
  /// Orders for outside devices, each once (SessionOptions::has_outside_devices), recorded before they are returned.
  /// Empty: there are none, or they could not be recorded and come again.
  [[nodiscard]] std::vector<DeviceIntent> take_device_intents();
  /// How much is known of an intent that ended.
  enum class EndKind {
    kKnown,
    kUnknown,  ///< it failed, and what it changed is unknown
    kLate,     ///< it had timed out, and was reported as unknown before
  };
  /// Reports the end of one of them.
  void end_device_intent(const DeviceIntent& intent, const DeviceEnded& ended, EndKind kind = EndKind::kKnown);
  /// Records that a GPU's MIG mode is to be turned on. Returns the number of the intent. Nothing: it could not be
  /// recorded.
  [[nodiscard]] std::optional<std::uint64_t> intend_mig_mode(GpuId gpu);
  void end_mig_mode_intent(GpuId gpu, const DeviceEnded& ended);
  /// How long changes took on outside devices, in time of the world, for each kind that was measured. Plans use these
  /// times (Scenario::measured_times) from a few samples on. O(kinds).
  [[nodiscard]] MeasuredTimes device_times() const;
  /// Forbids changes of a GPU for this reason, from now on; none: allows them. Returns whether that was recorded.
  bool observe(GpuId gpu, const std::optional<std::string>& why);
  /// A slice that stands on an outside device already, and on which a program of the service runs or is about to,
  /// is the engine's from now on. Returns false if something else of ours takes its place.
  bool adopt(const Slice& slice, ServiceId service);
  // Programs on the slices of outside devices (world::SliceTable).
  [[nodiscard]] std::vector<world::ProgramSlice> program_slices();
  /// It answers requests: a slice that starts serves now. `took`: since its start.
  void program_ready(const world::ProgramSlice& on, std::optional<Micros> took);
  /// None runs there, and none is being started.
  void program_gone(const world::ProgramSlice& on);
  /// It cannot run there: the slice is destroyed once its program is gone.
  void program_failed(const world::ProgramSlice& on, const std::string& why);
  /// Emits what happened to a program, and logs it as an event.
  void on_program_note(const ProgramNoted& noted);
  // What gateways counted (SessionOptions::measures_load; request_book.h).
  /// `epoch_us`: second 0 of the world, since 1970.
  void count_requests(const RequestReport& report, std::int64_t epoch_us);
  /// Gives the engine what is known of requests by now. To be called from time to time, at least once per second.
  void see_requests();
  /// All records of the gateway up to this number are recorded: they never count again.
  [[nodiscard]] std::uint64_t counted_until(const std::string& gateway) const;
  /// The second of the world from which on nothing was counted.
  [[nodiscard]] std::int64_t requests_known_until() const;
  /// The times of batches that programs ran at a place (speed_estimator.h). Requires: seconds of a place ascend.
  void add_batch_times(const sim::BatchTimes& times);
  /// Emits what a device reported, and logs it as an event.
  void on_device_note(const DeviceNoted& noted);
  /// The latest kept text of that kind for the GPU (EventLog), so that a restart does not report it again.
  [[nodiscard]] std::optional<std::string> last_note(GpuId gpu, DeviceNote note) const;
  [[nodiscard]] const sim::FaultBook& faults() const;

  [[nodiscard]] Instant now() const;
  /// Fleet and services as they are now. Places of removed services keep their names until they are reused.
  [[nodiscard]] const Scenario& scenario() const { return *scenario_; }
  [[nodiscard]] const Snapshot& snapshot() const;
  /// Engine::warm_of.
  [[nodiscard]] const WarmStatus* warm_of(ServiceId service) const;
  /// Engine::tier_of.
  [[nodiscard]] const TierChoice* tier_of(ServiceId service) const;
  [[nodiscard]] bool is_solving() const;
  /// Brings `watch` up to date. To be called before it is read. O(1) without a step since the last call.
  void refresh();
  [[nodiscard]] const ServiceWatch& watch() const;
  [[nodiscard]] const LiveFigures& figures() const;
  [[nodiscard]] const LostSlices& lost_slices() const;
  /// Of a slice of the snapshot, by its index there.
  [[nodiscard]] SliceState slice_state(std::size_t index) const;
  /// The usage that is not over.
  [[nodiscard]] const UsageBook& usage() const;
  /// The engine's state of the GPU, with orders since its last step applied.
  [[nodiscard]] GpuState gpu_state(GpuId gpu) const;
  /// Whether a drain of the GPU has finished, as the engine knows it: it is cordoned and has no slices of ours.
  [[nodiscard]] bool is_drained(GpuId gpu) const;
  [[nodiscard]] const EventLog& events() const;
  /// The last event that a crash cannot take back: later ones must not be shown to a client that relies on them.
  [[nodiscard]] std::uint64_t last_safe_event() const;
  /// To be called when all that was emitted is recorded.
  void set_recorded();
  [[nodiscard]] const PlanLog& plans() const;
  [[nodiscard]] const PromiseBook& promises() const;
  /// How long batches took, as far as this process measured. The factors that are recorded: Scenario::speeds.
  [[nodiscard]] const SpeedEstimator& measured_speeds() const;
  /// Forecasts that were judged by what came.
  [[nodiscard]] const ForecastBook& forecasts() const;
  /// SessionLog::planned_at; absent, too, if the policy makes no new layouts during the run.
  [[nodiscard]] std::optional<Instant> planned_at() const;
  /// The figures of all seconds of the world before this one were passed to the listener, if it was running then.
  [[nodiscard]] std::int64_t figured_second() const;
  [[nodiscard]] const std::optional<std::string>& infeasible() const;
  [[nodiscard]] std::uint64_t step_count() const { return step_count_; }

 private:
  friend class testing::SessionEngine;
  class Repetition;
  struct OrderedState {
    GpuScheduling scheduling = GpuScheduling::kOpen;
    std::string reason;
  };

  [[nodiscard]] sim::LoopOptions loop_options();
  [[nodiscard]] tl::unexpected<ObjectRefusal> not_recorded() const;
  /// Records the orders and carries them out, with one step for those that are events. Returns whether they were
  /// recorded.
  [[nodiscard]] bool order(const std::vector<Entry>& orders);
  [[nodiscard]] bool order_event(const Event& event);
  void carry_out(const std::vector<Entry>& orders);
  /// The orders that bring about the windows and the observed GPUs of the options, recorded; none: these are in force
  /// already, or the orders could not be recorded.
  [[nodiscard]] std::vector<Event> orders_of_start(Instant at);
  /// Passes what the world remembers to the listener, if it changed.
  void report_world(bool with_clock);

  /// Emits and records that nothing is observed from now to `to`.
  void note_jump(Instant to);

  // The effect of an entry, when it happens and when it is repeated.
  void apply(const TenantStored& stored);
  void apply(const TenantDropped& dropped);
  void apply(const ServiceStored& stored);
  void apply(const ServiceDropped& dropped);
  void apply(const ProposalWaits& waits);
  void log_device_note(const DeviceNoted& noted);
  void apply(const ForeignHeld& held);
  void log_program_note(const ProgramNoted& noted);
  std::optional<ChangeKind> add_start(const ProgramNoted& noted);
  void apply(const SecondsMeasured& measured);

  // Reports of the loop.
  void on_slice(const world::SliceRecord& record);
  void on_event(const Event& event);
  void on_answer(const StepAnswer& answer);
  /// Reports slices that were created, began to serve or went while no process ran.
  void on_unseen(const sim::WorldLeft& left);
  void on_unseen_gone(GpuId gpu, const world::DeviceMemory& device, const std::set<Slice>& created, Instant at);
  void on_unseen_there(const world::DeviceMemory& device, const std::set<Slice>& created, Instant at);

  /// From now on a proposal waits, for kProposalWait; without a limit this has no effect.
  void wait_for_approval(std::uint64_t plan);
  /// From now on plans use measured times, where that is worthwhile.
  void learn_time(const ChangeKind& change);
  /// Records speed factors that differ from what is known, ends those without batches, and makes all be used or only
  /// reported as SessionOptions::learns_speed says.
  void learn_speeds();
  /// Another process continues: what it measures begins again.
  void resume_calibration();
  /// A speed factor changed, or the table of the service.
  void read_speed(ServiceId service);
  /// Keeps the forecasts of this minute, once the engine can be asked for them.
  void keep_forecasts();
  void judge_forecast(const ServiceSecond& seen);
  /// Pauses planning if promises have failed.
  void keep_promises();
  void forget(ServiceId service);
  /// To be called after steps: the first one of a second reads the fleet's sums, and brings `watch` up to date.
  void after_step();
  void read_sums();
  /// Returns whether there is something new.
  bool update_watch();
  template <class Archive, class Self>
  static void archive_parts(Archive& archive, Self& self);

  std::unique_ptr<Scenario> scenario_;
  std::unique_ptr<const SessionOptions> options_;
  std::unique_ptr<SessionObjects> objects_;
  std::unique_ptr<SessionLog> log_;
  std::unique_ptr<EntryEmitter> emitter_;
  std::unique_ptr<DeviceChanges> changes_;
  std::unique_ptr<SeriesFeed> series_;
  std::unique_ptr<SpeedEstimator> measured_speeds_;
  std::unique_ptr<RequestBook> requests_;
  std::map<std::string, std::uint64_t> counted_;           ///< by gateway: emitted
  std::map<std::string, std::uint64_t> counted_recorded_;  ///< likewise: recorded
  std::unique_ptr<ForecastBook> forecasts_;
  std::int64_t forecast_minute_ = -1;  ///< the last one of which forecasts were kept
  std::uint64_t step_count_ = 0;
  std::uint64_t refreshed_step_ = 0;
  std::int64_t read_second_ = -1;          ///< the last one in which the fleet's sums were read
  bool has_unrecorded_sight_ = false;      ///< a second showed something new, which no row has yet
  std::map<GpuId, OrderedState> ordered_;  ///< since the last step
  std::uint64_t reported_orders_ = 0;      ///< in the latest WorldMemory that was reported
  std::unique_ptr<sim::Loop> loop_;
};

}  // namespace berth::live
