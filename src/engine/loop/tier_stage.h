/// The stage that takes slices from services whose GPU model the engine chooses (TierRule): what a planner, which has
/// no prices, would leave to them.
#pragma once

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// How long a slice on a model that was left serves at most, if those on the new model do not carry the load yet.
inline constexpr Micros kLeftAtMost = Micros::seconds(60);
/// How often slices are counted that are not needed, and the capacity that is kept: so many times the highest load of a
/// minute within the last half hour.
inline constexpr std::int64_t kReleaseSeconds = 300;
inline constexpr double kKeptCapacity = 1.3;

/// Destroys, once the first layout is in place,
///
/// - slices on models that a service's TierRule does not allow any more, once its slices on its model that are ready
///   carry its load, or `kLeftAtMost` after its model changed;
/// - every `kReleaseSeconds`, of a service with `tier: auto`, without floor and budget of changes, the slices without
///   which the others, all ready, still carry `kKeptCapacity` x its load: the most expensive first.
///
/// Slices shared with other services stay. Waits while a window is frozen. Its plans are ordered (Plan::is_ordered).
/// `scenario` is what the stages see; it must outlive the stage. O(slices), at each step.
[[nodiscard]] Stage tier_stage(const Scenario& scenario);

}  // namespace berth
