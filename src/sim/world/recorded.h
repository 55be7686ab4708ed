/// A recorded run, carried out again: the simulated world gets the orders that it got then, at the same instants. No
/// engine decides.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/event.h"
#include "domain/values/scenario.h"
#include "sim/world/journal.h"
#include "sim/world/order.h"
#include "sim/world/world_left.h"
#include "sim/world/world_options.h"

namespace berth::sim {

class World;

/// What a world was ordered, or what was seen of its devices: a GPU that is lost or back; a slice that is gone, which
/// is destroyed if it still stands here. A service that is set keeps its name and its arrivals.
struct RecordedOrder {
  Instant at;
  std::variant<PlanOrder, FaultInjection, ServiceSet, GpuLost, GpuReturned, SliceGone> what;
};

/// What happened to the devices of a fleet from second 0 on.
struct RecordedRun {
  std::optional<WorldLeft>
      left;  ///< what stands at second 0; absent: nothing, and the first layout is among the orders
  std::vector<RecordedOrder> orders;  ///< in order of time, those of second 0 included
};

/// The same as seen from an instant that is `by` later.
[[nodiscard]] WorldLeft moved_back(WorldLeft left, Micros by);

struct RecordedOptions {
  std::uint64_t seed = 1;
  WorldOptions world = {};
  JournalSink journal = {};  ///< may be empty; what stands at the beginning is reported as created
  std::function<bool(double done)> progress = {};  ///< may be empty; returns false to stop
};

/// Carries out all orders before `until`, and returns the world at that instant, or at its end if that is before. What
/// is not possible, as the world differs from the recorded one (a process that was killed may have lost what its
/// devices did), is left out: of a plan the part of the GPU. Error only if `progress` stopped it.
///
/// A run that was recorded from its beginning without a restart gives the same world, to the microsecond, if the seed,
/// the arrivals and the options are the same.
[[nodiscard]] Result<std::unique_ptr<World>> repeat_recorded(const Scenario& scenario, const RecordedRun& run,
                                                             Instant until, const RecordedOptions& options);

/// What the world of `repeat_recorded` remembers.
[[nodiscard]] WorldLeft left_of(const World& world, const Scenario& scenario);

}  // namespace berth::sim
