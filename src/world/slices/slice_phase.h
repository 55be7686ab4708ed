/// The phases of a slice's life.
#pragma once

#include <cstdint>

namespace berth::world {

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
///   any but changing -- observed to be an orphan ----------------> destroying
///
/// With faults, also:
///
///   creating         -- its creation fails ----------------------> gone
///   creating         -- created, but reported as failed ---------> up, without holders
///   destroying       -- its destruction fails -------------------> up, without holders
///   waiting for room -- a slice that stays takes the room -------> gone
///   up               -- a foreign slice is cleared --------------> gone
///
/// Where services have programs (`run`), the start time is over when the program is ready, and
///
///   starting         -- destroyed, or other holders -------------> draining
///   draining         -- nothing runs, and its program is gone ---> as above
///
/// A change of the batch limit alone changes no phase. Where the driver has no times (OutsideDriver), a reported result
/// counts as the time being over.
enum class SlicePhase : std::uint8_t { kWaitingForRoom, kCreating, kStarting, kUp, kDraining, kDestroying, kGone };

}  // namespace berth::world
