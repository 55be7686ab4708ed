/// The executor's model of slices: where they are, their holders, and the next step of each.
///
/// It carries out plans, step by step (`slice_phase.h` lists the legal transitions). Creations and destructions are
/// carried out by a SliceDriver, for a simulated world or on devices outside; the table sees no difference except
/// `SliceDriver::can_devices_differ`. Draining ends when nothing runs on the slice any more; a retraining stops at once
/// and keeps its progress. Starting costs `plumbing`, and for inference the service's `start` (the longest of its
/// holders').
///
/// Memory depends on the slices that exist or wait for room, not on how many there have been. Orders come from
/// `TrackedSlice::sequence`, never from an index.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/ports/slice_driver.h"
#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "world/slices/busy_table.h"
#include "world/slices/device_memory.h"
#include "world/slices/observed_layout.h"
#include "world/slices/program_slice.h"
#include "world/slices/slice_places.h"
#include "world/slices/slice_records.h"
#include "world/slices/slice_reports.h"
#include "world/slices/slice_sums.h"
#include "world/slices/tracked_slice.h"

namespace berth::world {

/// The effect of a slice's change on serving and retraining there.
struct SliceEffect {
  enum class Kind { kStart, kStop, kLose, kNewBatchLimit };
  Kind kind = Kind::kStart;
  SliceIndex slice;
};

/// The outcome of an action that a device outside carried out.
struct DeviceActionEnd {
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;  ///< DeviceAction::generation
  bool is_done = false;
  bool is_known = true;      ///< false: it failed, and what it changed is unknown
  std::string message = {};  ///< why it failed
  bool is_late = false;      ///< it had timed out, so its first reported result was a failure
};

class SliceTable {
 public:
  /// References must outlive the table. `journal` may be empty.
  SliceTable(const Scenario& scenario, SliceJournal journal, BusyTable& busy, SliceDriver& driver);

  // ---- what devices remember

  /// Continues at `now` with what devices remember ([GpuId]; lost ones have nothing), with nothing running on any
  /// slice. `take_effects` returns the effects on serving and retraining. Requires: nothing has happened yet.
  void resume(const std::vector<DeviceMemory>& devices, Instant now);
  /// What the device remembers. O(slices of the GPU).
  [[nodiscard]] DeviceMemory memory_of(GpuId gpu) const;
  /// The GPUs whose memory may have changed since the last call, in no order.
  [[nodiscard]] std::vector<GpuId> take_changed_gpus();
  /// Marks a GPU whose memory changes in a way that this table does not see, such as a GPU that is back.
  void mark_changed(GpuId gpu);

  // ---- plans

  /// Records that the GPU received actions up to that number and can carry out none of them.
  void pass_over(GpuId gpu, std::uint64_t number);
  /// The part of a plan on GPUs on which all of it is possible, where devices can differ; else all of it. GPUs whose
  /// slices have changed since the plan was made skip it: each action there is reported as failed, followed by what
  /// exists there. O(slices).
  [[nodiscard]] Plan take_possible(const Plan& plan, Instant now);
  /// Carries out a plan's actions; those of the first layout (`is_first_layout`) at once and for free. `take_effects`
  /// returns the effects on serving and retraining.
  void act(const Plan& plan, Instant now, bool is_first_layout);
  /// To be called when nothing runs on a draining slice any more.
  void drained(SliceIndex slice, Instant now);
  /// The next instant at which a change continues by itself.
  [[nodiscard]] Instant next_time() const;
  /// Continues the changes that are due at `now`.
  void tick(Instant now);

  // ---- devices outside

  /// Whether the result of an action is still expected: its GPU was not lost meanwhile.
  [[nodiscard]] bool awaits(const DeviceAction& action) const;
  /// Remembers that an action was sent to its device. Requires: awaits.
  void mark_ordered(const DeviceAction& action);
  /// Reports the end of an action. Ends of actions that are not awaited are ignored. A slice whose creation ends late
  /// exists, without holders.
  void end_device_action(const DeviceActionEnd& end, Instant now);

  // ---- programs on slices (SliceDriver::has_programs)

  /// The slices of services with `run` that exist or are being created, and those whose program is not known to be
  /// gone, by slice. A slice of several holders has the program of the first one that has one. O(slices).
  [[nodiscard]] std::vector<ProgramSlice> program_slices();
  /// The program of a slice that starts is ready: the slice serves. Ignored if it is not awaited.
  void program_ready(const Slice& slice, std::uint64_t generation, Instant now);
  /// The program of a slice that starts or serves cannot run there: reported as a creation that failed. The slice is
  /// destroyed once its program is gone; a slice that served counts as lost (`take_effects`).
  void program_failed(const Slice& slice, std::uint64_t generation, const std::string& why, Instant now);
  /// No program runs on the slice. Requires of the caller: none is being started there.
  void program_gone(const Slice& slice, std::uint64_t generation, Instant now);

  // ---- what happens to devices

  /// Removes all slices of a GPU at once, with what runs on them. `take_effects` returns the effects, which must be
  /// applied before anything else happens; `forget_lost` then frees their places.
  void lose(GpuId gpu, Instant now);
  void forget_lost();
  /// Reports what exists on a GPU. A slice that is not known becomes foreign, where it fits, unless it was ours when
  /// the GPU was lost; one that is known and does not exist is gone, and our orphans are destroyed. Slices that are
  /// being created or destroyed are left alone: the result of that says whether they exist. `take_effects` and
  /// `forget_lost` as for `lose`.
  void observe(GpuId gpu, const ObservedLayout& layout, Instant now);
  /// A slice that stands already is ours from now on, with a holder whose program runs on it, or is about to; `number`
  /// becomes the latest Action::number of its GPU. Returns false if something else takes its place.
  bool adopt(const Slice& slice, ServiceId service, std::uint64_t number, Instant now);
  /// Adds a foreign slice; slices that wait for its room fail. Requires: has_room.
  void add_foreign(const Slice& slice, Instant now);
  /// Removes the foreign slices of a GPU.
  void clear_foreign(GpuId gpu, Instant now);

  // ---- queries and effects

  /// Effects and events since the last call, in order.
  [[nodiscard]] std::vector<SliceEffect> take_effects() { return std::exchange(effects_, {}); }
  [[nodiscard]] std::vector<Event> take_events() { return reports_.take(); }

  [[nodiscard]] const TrackedSlice& at(SliceIndex slice) const { return places_.at(slice); }
  /// Whether a slice fits between those that exist.
  [[nodiscard]] bool has_room(const Slice& slice) const { return places_.has_room(slice); }
  /// Whether slices exist on the GPU, or wait for room there. O(1).
  [[nodiscard]] bool has_slices(GpuId gpu) const {
    return !places_.existing(gpu).empty() || !places_.waiting(gpu).empty();
  }
  void add_service() { sums_.add_service(); }
  /// The slices on which a service works, by index. O(slices).
  [[nodiscard]] std::vector<SliceIndex> up_slices_of(ServiceId service) const;
  /// The service's slices are at their default points from now on, where those are of a variant. O(slices).
  void forget_variants_of(ServiceId service);
  /// Sets whether the slice has a replica of each holder; a slice that cannot serve counts as lost.
  void set_can_serve(SliceIndex slice, bool can_serve, Instant now);

  /// Completes the sums up to `now`. O(services).
  void settle_sums(Instant now);
  /// Completes the sums of the whole fleet up to `now`, without those of services.
  void advance_sums(Instant now) { account(now); }
  /// As of the last `settle_sums`.
  [[nodiscard]] const SliceSums& sums() const { return sums_.sums(); }

  /// Indices in use or kept for reuse: at most the slices that existed or waited for room at one time.
  [[nodiscard]] std::size_t index_count() const { return places_.all().size(); }
  /// Timers not reached yet, including those that no longer matter.
  [[nodiscard]] std::size_t timer_count() const { return timers_.size(); }

 private:
  struct Timer {
    Instant at;
    std::uint64_t sequence = 0;
    SliceIndex slice;
    std::uint64_t generation = 0;
    friend bool operator>(const Timer& a, const Timer& b) {
      return std::tie(a.at, a.sequence) > std::tie(b.at, b.sequence);
    }
  };

  // slice_table.cc: plans, and the phases of a change
  void create(const Slice& slice, std::uint64_t number, bool is_at_once);
  void destroy(const DestroySlice& action, Instant now);
  void assign(const AssignSlice& action, std::uint64_t number, Instant now, bool is_at_once);
  void assign_to_up(SliceIndex slice, const AssignSlice& action, Instant now, bool is_at_once);
  void report_unowned(Instant now);
  /// The parts of an operating point whose change restarts the replica: all but the batch limit.
  struct Setup {
    int variant = 0;
    int processes = 1;
    friend bool operator==(const Setup&, const Setup&) = default;
  };
  /// Absent if the slice cannot serve the service.
  [[nodiscard]] std::optional<Setup> setup_of(ServiceId service, const Slice& slice,
                                              const std::optional<PointChoice>& choice) const;
  [[nodiscard]] bool needs_restart(const TrackedSlice& slice, const AssignSlice& action) const;
  void begin_waiting(Instant now);
  void created(SliceIndex slice, const ActionResult& result, Instant now);
  void begin_start(SliceIndex slice, Instant now);
  void up(SliceIndex slice, Instant now);
  void begin_drain(SliceIndex slice, Instant now);
  void begin_destroy(SliceIndex slice, Instant now);
  void destroyed(SliceIndex slice, const ActionResult& result, Instant now);
  enum class Report { kGone, kNone };
  void gone(SliceIndex slice, Instant now, Report report);
  void set_timer(SliceIndex slice, Micros after, Instant now);

  // slice_table_programs.cc: programs on slices
  /// The holder whose program runs on the slice; nothing: none has one.
  [[nodiscard]] std::optional<ServiceId> program_holder(const Holding& holding) const;
  void await_program(SliceIndex slice);
  /// A slice that starts is to end, or to get other holders (`next`): its program goes first.
  void drain_start(SliceIndex slice, Instant now);

  // slice_table_devices.cc: actions on devices, and how they fail
  [[nodiscard]] static DeviceAction action_of(const TrackedSlice& slice, ActionKind kind);
  /// Begins the creation or destruction with the driver.
  void begin_on_device(SliceIndex slice, ActionKind kind, Instant now);
  /// The result of the creation or destruction that is due now.
  [[nodiscard]] ActionResult end_on_device(SliceIndex slice, ActionKind kind);
  void fail_creation(SliceIndex slice, const std::string& why, Instant now);
  void fail_destruction(SliceIndex slice, const std::string& why, Instant now);
  /// From now on the slice exists without holders.
  void disown(SliceIndex slice);
  /// Fails slices that wait for room which staying slices will never free.
  void fail_blocked(GpuId gpu, Instant now);
  /// Keeps the slice of a creation that had timed out and exists after all.
  void keep_late_slice(const DeviceActionEnd& end, Instant now);
  /// Reports the actions of a plan on a GPU that skips it as failed.
  void report_passed_over(const Plan& plan, GpuId gpu, Instant now);

  // slice_table_observed.cc: what exists on devices
  /// Makes a place for a foreign slice. Requires: has_room.
  void place_foreign(const Slice& slice, Instant now);
  /// Takes over a foreign slice that turns out to be ours.
  void own(SliceIndex slice, std::uint64_t generation, Instant now);
  /// Remembers the slices of a GPU that is being lost, in case it comes back unchanged.
  void remember_made_here(GpuId gpu);
  /// Destroys an orphan of ours; its holders lose it.
  void clear_orphan(const Slice& slice, Instant now);
  /// Removes foreign slices that are not among these. Returns whether there was one.
  bool drop_foreign_but(GpuId gpu, const std::vector<Slice>& existing);
  /// Removes slices that serve, start or drain and are not among these.
  void drop_missing(GpuId gpu, const std::vector<Slice>& existing, Instant now);
  /// Removes a slice that its holders lose: with its GPU, or destroyed by another program.
  void lose_slice(SliceIndex slice, SliceEvent event, Instant now);

  // slice_table_memory.cc: memory, records and sums
  void remember(const SliceMemory& memory, Instant now);
  void touch(GpuId gpu);
  /// The slice, marked as about to change.
  [[nodiscard]] TrackedSlice& change(SliceIndex slice);
  void release(SliceIndex slice);
  void report_observed(Instant now) { reports_.add_observed(places_, known_numbers_, now); }
  void journal(SliceEvent event, SliceIndex slice, Instant now);
  void journal_point(const TrackedSlice& slice, Instant now) const;
  void count_change(const TrackedSlice& slice, Instant now);
  void account(Instant now);
  [[nodiscard]] HeldGpu held_on(GpuId gpu) const;

  const Scenario& scenario_;
  SliceJournal journal_;
  BusyTable& busy_;
  SliceDriver& driver_;
  SlicePlaces places_;
  SliceReports reports_;
  std::vector<SliceEffect> effects_;
  std::vector<SliceIndex> lost_;  ///< to be forgotten
  /// By GPU: the slices that were ours when it was lost, with their generations. Kept until it is observed again.
  std::vector<std::map<Slice, std::uint64_t>> made_here_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t timer_sequence_ = 0;
  std::vector<std::uint64_t> known_numbers_;  ///< by GPU: the latest Action::number
  SliceSumsMeter sums_;
  std::vector<GpuId> changed_gpus_;  ///< since the sums were advanced
  std::vector<GpuId> unsaved_gpus_;  ///< since take_changed_gpus, each once
  std::vector<char> is_unsaved_;     ///< by GPU: whether it is among them
};

}  // namespace berth::world
