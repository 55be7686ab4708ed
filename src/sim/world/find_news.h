/// After a restart: the events that tell the engine what happened while no process ran.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/snapshot.h"
#include "sim/world/world_memory.h"
#include "world/slices/device_memory.h"

namespace berth::sim {

/// The events of world::find_device_news, then retrainings that became due or done, by ServiceId. O(slices).
[[nodiscard]] std::vector<Event> find_news(const Snapshot& engine, const std::vector<world::DeviceMemory>& devices,
                                           const std::vector<ServiceMemory>& services,
                                           const std::set<Slice>& to_destroy,
                                           const std::map<GpuId, std::string>& losses, Instant now);

}  // namespace berth::sim
