/// The simulated slices: where they are, who holds them, and how long each part of a change takes.
///
/// `SimSlice::Phase` lists the legal transitions of a slice. Draining ends when nothing is running on the slice any
/// more; a retraining stops at once and keeps its progress.
/// Times: creating costs `create`; starting costs `plumbing`, and for inference the service's `start` (the longest of
/// its holders').
/// Memory depends on the slices that exist or wait for room, not on how many there have been: the index of a slice that
/// is gone is given to a later one. Orders come from `SimSlice::sequence`, never from an index.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "sim/world/busy_table.h"
#include "sim/world/fault_book.h"
#include "sim/world/journal.h"
#include "sim/world/slice_sums.h"
#include "sim/world/world_memory.h"

namespace berth::sim {

/// What a slice's change means for serving and retraining on it.
struct SliceEffect {
  enum class Kind { kStart, kStop, kLose, kNewBatchLimit };
  Kind kind = Kind::kStart;
  SliceIndex slice;
};

/// A creation or destruction that a device outside is to carry out.
struct DeviceAction {
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;  ///< SimSlice::created_as
  bool was_ordered = false;      ///< it was given out before, by a process that is gone
  friend bool operator==(const DeviceAction&, const DeviceAction&) = default;
};

/// How it ended there.
struct DeviceActionEnd {
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;
  bool is_done = false;
  bool is_known = true;      ///< not done: nothing was changed; else nobody knows what was
  std::string message = {};  ///< why it is not
  bool is_late = false;      ///< it was given up before: its first end said that it failed
};

/// What somebody saw on a GPU, by slice.
struct Sight {
  std::vector<Slice> standing;
  /// Those of them on which nothing can run: what a change that was cut off left.
  std::vector<Slice> remains = {};
};

/// Who carries out creations and destructions.
enum class Devices {
  kSimulated,  ///< the table itself, in the scenario's times, with injected faults
  kOutside,    ///< `take_device_actions` gives them out, `end_device_action` says how they ended, whenever that is
};

/// One simulated slice.
struct SimSlice {
  /// Legal transitions (a slice begins waiting for room; one of the first layout begins up):
  ///
  ///   waiting for room -- has room --------------------------------> creating
  ///   waiting for room -- destroyed -------------------------------> gone
  ///   creating         -- create time over, has holders -----------> starting
  ///   creating         -- create time over, has none --------------> up
  ///   creating         -- create time over, destroyed meanwhile ---> destroying
  ///   starting         -- start time over, or loses all holders ---> up
  ///   starting         -- other holders, processes or variant -----> starting, from the beginning
  ///   starting         -- destroyed -------------------------------> destroying
  ///   up               -- destroyed -------------------------------> draining
  ///   up               -- other holders, processes or variant -----> draining
  ///   draining         -- nothing runs, has next holders ----------> starting
  ///   draining         -- nothing runs, has none ------------------> up
  ///   draining         -- nothing runs, destroyed -----------------> destroying
  ///   destroying       -- destroy time over -----------------------> gone
  ///   any              -- its GPU is lost -------------------------> gone
  ///   any but changing -- seen to be remains ----------------------> destroying
  ///
  /// With faults, also:
  ///
  ///   creating         -- its creation fails ----------------------> gone
  ///   creating         -- created, but reported as failed ---------> up, without holders
  ///   destroying       -- its destruction fails -------------------> up, without holders
  ///   waiting for room -- a slice that stays takes the room -------> gone
  ///   up               -- a slice of others is cleared ------------> gone
  ///
  /// Another batch limit alone changes no phase.
  using Phase = SlicePhase;
  Slice slice;
  Phase phase = Phase::kWaitingForRoom;
  Holding holding;  ///< its current holders (while draining: the previous ones)
  std::optional<PointChoice> point;
  std::optional<AssignSlice> next;  ///< the assignment after the drain
  std::uint64_t created_as = 0;     ///< Action::number of its creation, reported when it is gone
  std::uint64_t assigned_as = 0;    ///< that of its latest assignment (else its creation), reported when it is ready
  bool is_unwanted = false;         ///< to be destroyed after the drain
  bool is_foreign = false;          ///< made by others
  bool will_time_out = false;       ///< its creation or destruction takes too long, and is given up
  bool was_ordered = false;         ///< SliceMemory::was_ordered
  std::uint64_t sequence = 0;       ///< orders slices by creation
  std::uint64_t generation = 0;     ///< timers of older generations have no effect; it grows on when an index is reused
  int sms = 0;
  bool can_serve = true;                    ///< it has a replica of each holder (set by the world after kStart)
  Instant continues_at = Instant::never();  ///< when its latest timer is over
};

class SliceTable {
 public:
  /// References must outlive the table. `journal` may be empty.
  SliceTable(const Scenario& scenario, const JournalSink& journal, BusyTable& busy,
             Devices devices = Devices::kSimulated);

  /// Goes on at `now` with what devices remember ([GpuId]; lost ones have nothing), with nothing running on any slice.
  /// `take_effects` returns what follows for others. Requires: nothing has happened yet.
  void resume(const std::vector<DeviceMemory>& devices, Instant now);
  /// What the device remembers. O(slices of the GPU).
  [[nodiscard]] DeviceMemory memory_of(GpuId gpu) const;
  /// The GPUs whose memory may have changed since the last call, in no order.
  [[nodiscard]] std::vector<GpuId> take_changed_gpus();
  /// The GPU's memory changes by what this table does not know, as when it is back.
  void note_change(GpuId gpu);

  /// The GPU got actions up to that number, none of which it can carry out.
  void pass_over(GpuId gpu, std::uint64_t number);
  /// Devices::kOutside: the part of a plan on GPUs on which all of it is possible. The others pass it over, as they
  /// have other slices than when the plan was made: each action there is reported as failed, and what stands there is
  /// told. O(slices).
  [[nodiscard]] Plan take_possible(const Plan& plan, Instant now);
  /// Carries out a plan's actions; the first layout's (`is_first_layout`) at once and for free. `take_effects` returns
  /// what follows for others.
  void act(const Plan& plan, Instant now, bool is_first_layout);
  /// Devices::kOutside: the actions that can begin on devices and were not given out yet, in the order in which each
  /// GPU must get them.
  [[nodiscard]] std::vector<DeviceAction> device_actions() const;
  /// All of these are given out now.
  void give_out_device_actions();
  /// One of them ended; what is not waited for any more is no news. A slice whose creation ends late stands, and nobody
  /// holds it.
  void end_device_action(const DeviceActionEnd& end, Instant now);
  /// The next instant at which a change continues by itself.
  [[nodiscard]] Instant next_time() const;
  /// Continues the changes that are due at `now`.
  void tick(Instant now);
  /// All slices of a GPU are gone at once, with what runs on them. `take_effects` returns what follows for others, and
  /// is to be carried out before anything else happens; `forget_lost` then frees their places.
  void lose(GpuId gpu, Instant now);
  void forget_lost();
  /// Whether a slice finds room between those that exist.
  [[nodiscard]] bool has_room(const Slice& slice) const;
  /// Whether slices stand on the GPU, or wait for room there. O(1).
  [[nodiscard]] bool has_slices(GpuId gpu) const { return !by_gpu_[gpu.index].empty() || !waiting_[gpu.index].empty(); }
  /// A slice of others appears; slices that wait for its room fail. Requires: has_room.
  void add_foreign(const Slice& slice, Instant now);
  /// The slices of others on a GPU are gone.
  void clear_foreign(GpuId gpu, Instant now);
  /// What stands on a GPU. What is not known is of others, where it finds room, unless it stood here as ours when the
  /// GPU was lost; what is known and does not stand is gone, and remains of ours are destroyed. Slices that are being
  /// created or destroyed are left alone: the end of that says what stands. `take_effects` and `forget_lost` as of
  /// `lose`.
  void see(GpuId gpu, const Sight& sight, Instant now);
  [[nodiscard]] FaultBook& faults() { return faults_; }
  [[nodiscard]] const FaultBook& faults() const { return faults_; }

  /// Nothing is running on a draining slice any more.
  void drained(SliceIndex slice, Instant now);

  /// Effects and events since the last call, in order.
  [[nodiscard]] std::vector<SliceEffect> take_effects() { return std::exchange(effects_, {}); }
  [[nodiscard]] std::vector<Event> take_events() { return std::exchange(events_, {}); }

  [[nodiscard]] const SimSlice& at(SliceIndex slice) const { return slices_[slice.value]; }
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
  [[nodiscard]] std::size_t index_count() const { return slices_.size(); }
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

  void touch(GpuId gpu);
  void remember(const SliceMemory& memory, Instant now);
  void report_unowned(Instant now);
  void create(const Slice& slice, std::uint64_t number, bool is_at_once);
  void destroy(const DestroySlice& action, Instant now);
  void assign(const AssignSlice& action, std::uint64_t number, Instant now, bool is_at_once);
  void begin_waiting(Instant now);
  /// Slices that wait for room on a GPU where room may have come free, in the order of their creation.
  [[nodiscard]] std::vector<SliceIndex> take_candidates();
  /// How a creation or destruction ended. `why`: of a failure.
  struct End {
    ActionEnd how = ActionEnd::kDone;
    std::string why = {};
  };
  void created(SliceIndex slice, const End& end, Instant now);
  void begin_start(SliceIndex slice, Instant now);
  void up(SliceIndex slice, Instant now);
  void begin_drain(SliceIndex slice, Instant now);
  void begin_destroy(SliceIndex slice, Instant now);
  void destroyed(SliceIndex slice, const End& end, Instant now);
  enum class Report { kGone, kNone };
  void gone(SliceIndex slice, Instant now, Report report);

  /// A slice that is about to change.
  [[nodiscard]] SimSlice& change(SliceIndex slice);
  /// An index for a new slice, that of a slice that is gone if there is one.
  [[nodiscard]] SliceIndex index_for_new();
  void release(SliceIndex slice);
  [[nodiscard]] std::optional<SliceIndex> find(const Slice& slice) const;
  /// The parts of an operating point whose change restarts the replica: all but the batch limit.
  struct Setup {
    int variant = 0;
    int processes = 1;
    friend bool operator==(const Setup&, const Setup&) = default;
  };
  /// Absent if the slice cannot serve the service.
  [[nodiscard]] std::optional<Setup> setup_of(ServiceId service, const Slice& slice,
                                              const std::optional<PointChoice>& choice) const;
  [[nodiscard]] bool needs_restart(const SimSlice& slice, const AssignSlice& action) const;
  /// Begins the creation or destruction on the device, which takes what plans count on unless a fault says otherwise.
  void begin_on_device(SliceIndex slice, ActionKind kind, Instant now);
  /// How the creation or destruction ends that is due now.
  [[nodiscard]] End end_on_device(SliceIndex slice, ActionKind kind);
  /// The slice of a creation that had been given up stands.
  void stand_late(const DeviceActionEnd& end, Instant now);
  void fail_creation(SliceIndex slice, const std::string& why, Instant now);
  void fail_destruction(SliceIndex slice, const std::string& why, Instant now);
  /// A slice stands, and nobody holds it.
  void stand_unowned(SliceIndex slice);
  /// Slices that wait for room that slices take that stay will never get it.
  void fail_blocked(GpuId gpu, Instant now);
  [[nodiscard]] bool clashes_with_staying(const Slice& slice) const;
  /// A place for a slice of others. Requires: has_room.
  void place_foreign(const Slice& slice, Instant now);
  /// One of others turns out to be ours.
  void own(SliceIndex index, std::uint64_t generation, Instant now);
  /// The slices of a GPU that is being lost, in case that it comes back as it was.
  void remember_made_here(GpuId gpu);
  /// What is left of a slice of ours: whoever uses it loses it, and it is destroyed.
  void clear_remains(const Slice& slice, Instant now);
  /// Slices of others that are not among these are gone. Returns whether there was one.
  bool drop_foreign_but(GpuId gpu, const std::vector<Slice>& standing);
  /// Slices that serve, start or drain and are not among these are gone. Returns whether there was one.
  bool drop_missing(GpuId gpu, const std::vector<Slice>& standing, Instant now);
  /// A slice is gone from under those who use it: lost with its GPU, or destroyed by others.
  void lose_slice(SliceIndex slice, SliceEvent event, Instant now);
  void report_failed(ActionKind kind, SliceIndex slice, std::string why, Instant now);
  /// The actions of a plan on a GPU that carries out none of them failed.
  void report_passed_over(const Plan& plan, GpuId gpu, Instant now);
  void report_seen(Instant now);
  void report_ready(SliceIndex slice, Instant now);
  void report_gone(SliceIndex slice, Instant now);
  void set_timer(SliceIndex slice, Micros after, Instant now);
  void journal(SliceEvent event, SliceIndex slice, Instant now);
  void journal_point(const SimSlice& slice, Instant now) const;
  void count_change(const SimSlice& slice, Instant now);
  void account(Instant now);
  [[nodiscard]] HeldGpu held_on(GpuId gpu) const;

  const Scenario& scenario_;
  const JournalSink& journal_;
  BusyTable& busy_;
  const Devices devices_;
  /// Actions to be given out: slices, and their generations, as an index may be used again.
  std::vector<std::pair<SliceIndex, std::uint64_t>> to_order_;
  std::vector<SimSlice> slices_;  ///< by SliceIndex
  std::vector<SliceIndex> free_;  ///< of slices that are gone
  std::vector<SliceIndex> lost_;  ///< to be forgotten
  std::uint64_t slice_sequence_ = 0;
  std::vector<std::map<int, SliceIndex>> by_gpu_;  ///< existing ones (not waiting, not gone), by start
  /// By GPU: what stood there as ours when it was lost, and its generations. Until it is seen again.
  std::vector<std::map<Slice, std::uint64_t>> made_here_;
  std::vector<std::vector<SliceIndex>> waiting_;  ///< for room, by GPU, in the order of their creation
  std::vector<GpuId> roomier_gpus_;               ///< where a slice came to wait or left since the last check
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t timer_sequence_ = 0;
  FaultBook faults_;
  std::vector<std::uint64_t> known_numbers_;  ///< by GPU: the latest Action::number
  std::vector<GpuId> to_observe_;             ///< where something failed at this instant
  std::vector<SliceEffect> effects_;
  std::vector<Event> events_;
  SliceSumsMeter sums_;
  std::vector<GpuId> changed_gpus_;  ///< since the sums were advanced
  std::vector<GpuId> unsaved_gpus_;  ///< since take_changed_gpus, each once
  std::vector<char> is_unsaved_;     ///< by GPU: whether it is among them
};

}  // namespace berth::sim
