/// Retraining of one service over time: due, running, done, the accuracy in force.
///
/// States (the accuracy `before` is in force in all but fresh) and legal transitions:
///
///   fresh    -- due ------------> running, or waiting where no slice is up that can retrain it
///   waiting  -- slice up -------> running
///   waiting  -- due ------------> waiting, its progress 0 again unless unfinished work is kept
///   running  -- slice gone -----> running on another slice, or waiting; the progress is kept
///   running  -- due ------------> running, from progress 0 again unless unfinished work is kept
///   running  -- work done ------> swapping
///   swapping -- due ------------> running or waiting, from progress 0; the pending swap is void
///   swapping -- swap time over -> fresh
///
/// Events of one microsecond happen in this order: due, work done, swap time over.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/service.h"
#include "sim/world/world_memory.h"
#include "world/slices/slice_index.h"

namespace berth::sim {

/// The changes after the clock has moved, which the world must carry out.
struct RetrainingNews {
  bool became_due = false;
  bool became_done = false;
  std::optional<world::SliceIndex> stopped;  ///< it no longer runs there (done, moved or restarted elsewhere)
  std::optional<world::SliceIndex> started;  ///< it now runs there (again, if it was abandoned and restarted)
};

class RetrainingClock {
 public:
  /// `end`: nothing becomes due after the end of the run. Due times count from `begin`.
  RetrainingClock(const Retraining& spec, Instant end, Instant begin = Instant())
      : spec_(spec), end_(end), next_due_(begin + spec.offset) {}

  /// Continues at `now` from that memory, running nowhere: what ran until then counts as done. `add_slice` must be
  /// called for each slice that it has.
  RetrainingClock(const Retraining& spec, Instant end, const RetrainingMemory& memory, Instant now);
  [[nodiscard]] RetrainingMemory memory() const;

  /// The next instant at which something happens by itself.
  [[nodiscard]] Instant next_time() const;
  /// Processes the events at `now`. Requires: now == next_time().
  [[nodiscard]] RetrainingNews tick(Instant now);

  /// A slice is given to (taken from) the retraining. `time_on`: how long a whole retraining takes there; absent if it
  /// cannot run there. `order` sorts slices by GPU and start; one place is given
  /// once at a time, so the order never depends on the index.
  [[nodiscard]] RetrainingNews add_slice(const Slice& order, world::SliceIndex slice, std::optional<Micros> time_on,
                                         Instant now);
  [[nodiscard]] RetrainingNews remove_slice(const Slice& order, world::SliceIndex slice, Instant now);

  /// The slice on which it runs.
  [[nodiscard]] std::optional<world::SliceIndex> running_on() const {
    return running_ ? std::optional(running_->slice) : std::nullopt;
  }
  /// Whether the accuracy `before` is in force.
  [[nodiscard]] bool is_stale() const { return is_stale_; }

 private:
  struct RetrainingSlice {
    Slice order;
    world::SliceIndex slice;
    Micros time_on;
    friend auto operator<=>(const RetrainingSlice&, const RetrainingSlice&) = default;
  };

  /// Adds to the share that is done the work of a run of that duration on such a slice.
  void add_done(Micros ran, Micros time_on);
  void begin_if_possible(Instant now, RetrainingNews& news);
  void halt(Instant now, RetrainingNews& news);

  Retraining spec_;
  Instant end_;
  Instant next_due_;
  bool is_stale_ = false;   ///< accuracy `before` in force
  bool is_wanted_ = false;  ///< due and not done
  Decimal done_share_;      ///< of the work, kept when it moves
  std::set<RetrainingSlice> places_;
  std::optional<RetrainingSlice> running_;
  Instant running_since_;
  Instant done_at_ = Instant::never();
  Instant swap_at_ = Instant::never();
};

}  // namespace berth::sim
