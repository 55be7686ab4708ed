#include "live/folder/devices_left.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/core/text.h"
#include "live/rows/world_rows.h"

namespace berth::live {

Result<sim::WorldLeft> world_of(const DevicesMemory& memory, const Scenario& scenario, const std::string& path) {
  sim::WorldLeft left;
  left.devices.resize(scenario.gpu_count());
  const auto wrong = [&](const std::string& which) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: {} is not of this fleet, or of a later version", path, which));
  };
  for (const auto& [gpu, body] : memory.gpus) {
    auto device = journal::read_device(body);
    if (!device || gpu >= left.devices.size()) return wrong(fmt::format("the row of gpu-{}", gpu));
    left.devices[gpu] = std::move(*device);
  }
  if (memory.world.empty()) return left;
  auto world = journal::read_world(memory.world);
  if (!world) return wrong("the row of the world");
  left.world = std::move(*world);
  if (memory.clock.empty()) return left;
  const auto clock = parse_count(memory.clock, INT64_MAX);
  if (!clock) return wrong("the row of the clock");
  left.world.now = std::max(left.world.now, Instant(*clock));
  return left;
}

DevicesMemory memory_of(const WorldChanges& changes) {
  DevicesMemory memory;
  memory.clock = fmt::format("{}", changes.now.micros());
  for (const auto& [gpu, device] : changes.devices) memory.gpus.emplace_back(gpu.index, journal::device_json(device));
  if (changes.world) memory.world = journal::world_json(*changes.world);
  return memory;
}

}  // namespace berth::live
