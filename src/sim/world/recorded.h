/// A recorded run, carried out again: the simulated world gets the same orders at the same instants. No engine decides.
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

/// An order to the world, or an observation of its devices: a GPU that is lost or back; a slice that is gone, which is
/// destroyed if it still exists here. A service that is set keeps its name and its arrivals.
struct RecordedOrder {
  Instant at;
  std::variant<PlanOrder, FaultInjection, ServiceSet, GpuLost, GpuReturned, SliceGone> what;
};

/// What happened to the devices of a fleet from second 0 on.
struct RecordedRun {
  std::optional<WorldLeft>
      left;  ///< existing slices at second 0; absent: none, and the first layout is among the orders
  std::vector<RecordedOrder> orders;  ///< in order of time, those of second 0 included
};

/// The same as seen from an instant that is `by` later.
[[nodiscard]] WorldLeft moved_back(WorldLeft left, Micros by);

struct RecordedOptions {
  std::uint64_t seed = 1;
  WorldOptions world = {};
  JournalSink journal = {};  ///< may be empty; slices that exist at the beginning are reported as created
  std::function<bool(double done)> progress = {};  ///< may be empty; returns false to stop
};

/// Carries out all orders before `until`, and returns the world at that instant, or at its end if that is earlier.
/// Orders that are impossible, as the world differs from the recorded one (a killed process may have lost what its
/// devices did), are left out: of a plan only the part of the GPU. Error only if `progress` stopped it.
///
/// A run that was recorded from its beginning without a restart gives the same world, to the microsecond, if the seed,
/// the arrivals and the options are the same.
[[nodiscard]] Result<std::unique_ptr<World>> repeat_recorded(const Scenario& scenario, const RecordedRun& run,
                                                             Instant until, const RecordedOptions& options);

/// The memory of the world of `repeat_recorded`.
[[nodiscard]] WorldLeft left_of(const World& world, const Scenario& scenario);

}  // namespace berth::sim
