/// The memory of the simulated world as JSON, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/world/world_memory.h"
#include "world/slices/device_memory.h"

namespace berth::journal {

[[nodiscard]] std::string device_json(const world::DeviceMemory& device);
[[nodiscard]] std::string world_json(const sim::WorldMemory& world);
/// Nothing if the text is not such JSON.
[[nodiscard]] std::optional<world::DeviceMemory> read_device(std::string_view text);
[[nodiscard]] std::optional<sim::WorldMemory> read_world(std::string_view text);

}  // namespace berth::journal
