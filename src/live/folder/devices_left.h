/// The memory of the simulated devices of a folder, and how it is stored.
#pragma once

#include <string>

#include "base/core/result.h"
#include "domain/ports/devices_memory.h"
#include "domain/values/scenario.h"
#include "live/session/entry.h"
#include "sim/world/world_left.h"

namespace berth::live {

/// What the devices remember, for the fleet. If nothing was written yet: empty devices that have carried out nothing.
[[nodiscard]] Result<sim::WorldLeft> world_of(const DevicesMemory& memory, const Scenario& scenario,
                                              const std::string& path);
[[nodiscard]] DevicesMemory memory_of(const WorldChanges& changes);

}  // namespace berth::live
