/// After a restart on real devices: what stands there, with what is remembered of it.
#pragma once

#include <vector>

#include "domain/values/slice.h"
#include "sim/world/world_memory.h"

namespace berth::sim {

/// What a device remembers and what stands on it now, by slice, as one memory: what is remembered and stands is as it
/// was remembered; what stands and is not remembered was made by others; what does not stand is gone, unless it waits
/// for room or is being created or destroyed, which then goes on. After a reboot (`is_same_boot` false) nothing that
/// stands is ours: no instance survives one. O((remembered + standing) log).
[[nodiscard]] DeviceMemory adopt(const DeviceMemory& remembered, const std::vector<Slice>& standing,
                                 bool is_same_boot = true);

}  // namespace berth::sim
