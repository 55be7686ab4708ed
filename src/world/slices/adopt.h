/// After a restart on real devices: what exists there, with what is remembered of it.
#pragma once

#include <vector>

#include "domain/values/slice.h"
#include "world/slices/device_memory.h"

namespace berth::world {

/// What a device remembers and what exists on it now (`existing`, ascending), as one memory: what is remembered and
/// exists is as it was remembered; what exists and is not remembered is foreign; what does not exist is gone, unless it
/// waits for room or is being created or destroyed, which then continues. After a reboot (`is_same_boot` false) nothing
/// that exists is ours: no instance survives one. O((remembered + existing) log).
[[nodiscard]] DeviceMemory adopt(const DeviceMemory& remembered, const std::vector<Slice>& existing,
                                 bool is_same_boot = true);

}  // namespace berth::world
