/// Time slots: when so many GPUs are free for so long, and how sure that is.
#pragma once

#include <optional>

#include "scheduling/jobs/run_times.h"
#include "scheduling/jobs/world.h"

namespace berth::sched {

struct SlotWish {
  GpuCount gpus = 1;
  Seconds length = 1;
  std::optional<Seconds> before = std::nullopt;  ///< by which it must be over
};

struct Slot {
  Seconds start = 0;
  double confidence = 0;  ///< the chance that so many GPUs are free at its start, 0 to 1
};

/// The earliest start, from now on, at which by the expected ends of the running jobs so many GPUs are free; nothing if
/// that is too late, or there are never so many. Jobs that wait or come later are not counted: a slot is what a
/// reservation made now would get. The chance takes jobs as independent of each other, and where they have more than
/// 65,536 sums of GPUs, neighbouring sums as the lower one. O(r log r + r min(gpus, 65,536)), r running.
[[nodiscard]] std::optional<Slot> find_slot(const World& world, RunTimes run_times, const SlotWish& wish);

}  // namespace berth::sched
