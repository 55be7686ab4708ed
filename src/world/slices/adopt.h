/// After a restart on real devices: merges what exists there with what was remembered.
#pragma once

#include <vector>

#include "domain/values/slice.h"
#include "world/slices/device_memory.h"

namespace berth::world {

/// Merges what a device remembers with what exists on it now (`existing`, ascending). A slice that is remembered and
/// exists stays as it was remembered; one that exists and is not remembered is foreign; one that does not exist is
/// gone, unless it waits for room or is being created or destroyed, which then continues. After a reboot
/// (`is_same_boot` false) everything that exists is foreign, as no instance survives one. O((remembered + existing)
/// log).
[[nodiscard]] DeviceMemory adopt(const DeviceMemory& remembered, const std::vector<Slice>& existing,
                                 bool is_same_boot = true);

}  // namespace berth::world
