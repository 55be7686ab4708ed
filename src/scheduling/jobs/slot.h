/// Time slots: when a number of GPUs is free for a duration, and how likely that is.
#pragma once

#include <optional>

#include "scheduling/jobs/run_times.h"
#include "scheduling/jobs/world.h"

namespace berth::sched {

struct SlotWish {
  GpuCount gpus = 1;
  Seconds length = 1;
  std::optional<Seconds> before = std::nullopt;  ///< when it must be over
};

struct Slot {
  Seconds start = 0;
  double confidence = 0;  ///< the chance that the GPUs are free at its start, 0 to 1
};

/// The earliest start, from now on, at which enough GPUs are free according to the expected ends of the running jobs;
/// nothing if that is too late, or there are never enough. Waiting and later jobs are not counted: a slot is what a
/// reservation made now would get. The chance assumes independent jobs; if they have more than 65,536 sums of GPUs,
/// neighbouring sums are merged into the lower one. O(r log r + r min(gpus, 65,536)), r running.
[[nodiscard]] std::optional<Slot> find_slot(const World& world, RunTimes run_times, const SlotWish& wish);

}  // namespace berth::sched
