/// The executor's model of slices: where they are, who holds them, what is to be done next with each of them.
///
/// It carries out plans, step by step (`slice_phase.h` lists the legal transitions). Creations and destructions are
/// carried out by a SliceDriver, for a simulated world or on devices outside; the table knows no difference but what
/// `SliceDriver::can_devices_differ` says. Draining ends when nothing is running on the slice any more; a retraining
/// stops at once and keeps its progress. Starting costs `plumbing`, and for inference the service's `start` (the
/// longest of its holders').
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
#include "world/slices/slice_places.h"
#include "world/slices/slice_records.h"
#include "world/slices/slice_reports.h"
#include "world/slices/slice_sums.h"
#include "world/slices/tracked_slice.h"

namespace berth::world {

/// What a slice's change means for serving and retraining on it.
struct SliceEffect {
  enum class Kind { kStart, kStop, kLose, kNewBatchLimit };
  Kind kind = Kind::kStart;
  SliceIndex slice;
};

/// How an action ended that a device outside carried out.
struct DeviceActionEnd {
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;  ///< DeviceAction::generation
  bool is_done = false;
  bool is_known = true;      ///< not done: nothing was changed; else it is not known what was
  std::string message = {};  ///< why it is not done
  bool is_late = false;      ///< it timed out before: its first result said that it failed
};

class SliceTable {
 public:
  /// References must outlive the table. `journal` may be empty.
  SliceTable(const Scenario& scenario, SliceJournal journal, BusyTable& busy, SliceDriver& driver);

  // ---- what devices remember

  /// Continues at `now` with what devices remember ([GpuId]; lost ones have nothing), with nothing running on any
  /// slice. `take_effects` returns what follows for others. Requires: nothing has happened yet.
  void resume(const std::vector<DeviceMemory>& devices, Instant now);
  /// What the device remembers. O(slices of the GPU).
  [[nodiscard]] DeviceMemory memory_of(GpuId gpu) const;
  /// The GPUs whose memory may have changed since the last call, in no order.
  [[nodiscard]] std::vector<GpuId> take_changed_gpus();
  /// The GPU's memory changes by what this table does not know, as when it is back.
  void mark_changed(GpuId gpu);

  // ---- plans

  /// The GPU got actions up to that number, none of which it can carry out.
  void pass_over(GpuId gpu, std::uint64_t number);
  /// The part of a plan on GPUs on which all of it is possible, where devices can differ; else all of it. GPUs that
  /// have other slices than when the plan was made pass it over: each action there is reported as failed, and then what
  /// exists there. O(slices).
  [[nodiscard]] Plan take_possible(const Plan& plan, Instant now);
  /// Carries out a plan's actions; the first layout's (`is_first_layout`) at once and for free. `take_effects` returns
  /// what follows for others.
  void act(const Plan& plan, Instant now, bool is_first_layout);
  /// Nothing is running on a draining slice any more.
  void drained(SliceIndex slice, Instant now);
  /// The next instant at which a change continues by itself.
  [[nodiscard]] Instant next_time() const;
  /// Continues the changes that are due at `now`.
  void tick(Instant now);

  // ---- devices outside

  /// Whether the result of an action is still to come: its GPU was not lost meanwhile.
  [[nodiscard]] bool awaits(const DeviceAction& action) const;
  /// An action was given to its device: that is remembered. Requires: awaits.
  void mark_ordered(const DeviceAction& action);
  /// An action ended. Ends of actions that are not awaited are ignored. A slice whose creation ends late exists,
  /// without holders.
  void end_device_action(const DeviceActionEnd& end, Instant now);

  // ---- what happens to devices

  /// All slices of a GPU are gone at once, with what runs on them. `take_effects` returns what follows for others, and
  /// is to be carried out before anything else happens; `forget_lost` then frees their places.
  void lose(GpuId gpu, Instant now);
  void forget_lost();
  /// What exists on a GPU. What is not known is foreign, where it finds room, unless it was ours when the GPU was lost;
  /// what is known and does not exist is gone, and orphans of ours are destroyed. Slices that are being created or
  /// destroyed are left alone: the result of that says whether they exist. `take_effects` and `forget_lost` as of
  /// `lose`.
  void observe(GpuId gpu, const ObservedLayout& layout, Instant now);
  /// A foreign slice appears; slices that wait for its room fail. Requires: has_room.
  void add_foreign(const Slice& slice, Instant now);
  /// The foreign slices of a GPU are gone.
  void clear_foreign(GpuId gpu, Instant now);

  // ---- what others need

  /// Effects and events since the last call, in order.
  [[nodiscard]] std::vector<SliceEffect> take_effects() { return std::exchange(effects_, {}); }
  [[nodiscard]] std::vector<Event> take_events() { return reports_.take(); }

  [[nodiscard]] const TrackedSlice& at(SliceIndex slice) const { return places_.at(slice); }
  /// Whether a slice finds room between those that exist.
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
  /// Completes the sums of the whole fleet up to `now`; those of services are not.
  void advance_sums(Instant now) { account(now); }
  /// As of the last `settle_sums`.
  [[nodiscard]] const SliceSums& sums() const { return sums_.sums(); }

  /// Indices in use or kept for reuse: at most the slices that existed or waited for room at one time.
  [[nodiscard]] std::size_t index_count() const { return places_.all().size(); }
  /// Timers that have not been reached, those that no longer matter too.
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

  // slice_table_devices.cc: actions on devices, and how they fail
  [[nodiscard]] static DeviceAction action_of(const TrackedSlice& slice, ActionKind kind);
  /// The driver begins the creation or destruction.
  void begin_on_device(SliceIndex slice, ActionKind kind, Instant now);
  /// The result of the creation or destruction that is due now.
  [[nodiscard]] ActionResult end_on_device(SliceIndex slice, ActionKind kind);
  void fail_creation(SliceIndex slice, const std::string& why, Instant now);
  void fail_destruction(SliceIndex slice, const std::string& why, Instant now);
  /// A slice exists from now on without holders.
  void disown(SliceIndex slice);
  /// Slices that wait for room that slices take that stay will never get it.
  void fail_blocked(GpuId gpu, Instant now);
  /// The slice of a creation that had timed out exists.
  void keep_late_slice(const DeviceActionEnd& end, Instant now);
  /// The actions of a plan on a GPU that carries out none of them failed.
  void report_passed_over(const Plan& plan, GpuId gpu, Instant now);

  // slice_table_observed.cc: what exists on devices
  /// A place for a foreign slice. Requires: has_room.
  void place_foreign(const Slice& slice, Instant now);
  /// A foreign slice turns out to be ours.
  void own(SliceIndex slice, std::uint64_t generation, Instant now);
  /// The slices of a GPU that is being lost, in case that it comes back as it was.
  void remember_made_here(GpuId gpu);
  /// An orphan of ours: its users lose it, and it is destroyed.
  void clear_orphan(const Slice& slice, Instant now);
  /// Foreign slices that are not among these are gone. Returns whether there was one.
  bool drop_foreign_but(GpuId gpu, const std::vector<Slice>& existing);
  /// Slices that serve, start or drain and are not among these are gone.
  void drop_missing(GpuId gpu, const std::vector<Slice>& existing, Instant now);
  /// A slice is gone from under its users: lost with its GPU, or destroyed by others.
  void lose_slice(SliceIndex slice, SliceEvent event, Instant now);

  // slice_table_memory.cc: memory, records and sums
  void remember(const SliceMemory& memory, Instant now);
  void touch(GpuId gpu);
  /// A slice that is about to change.
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
  /// By GPU: what existed there as ours when it was lost, and its generations. Until it is observed again.
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
