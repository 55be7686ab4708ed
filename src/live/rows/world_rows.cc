#include "live/rows/world_rows.h"

#include "base/json/document.h"
#include "live/rows/names.h"

namespace berth::journal {
namespace {

template <class T>
std::optional<T> read(std::string_view text) {
  const auto json = json::parse_document(text, "row", json::kNoLimits);
  T value;
  if (!json || !read_json(*json, value)) return std::nullopt;
  return value;
}

}  // namespace

std::string device_json(const world::DeviceMemory& device) { return json_of(device); }
std::string world_json(const sim::WorldMemory& world) { return json_of(world); }
std::optional<world::DeviceMemory> read_device(std::string_view text) { return read<world::DeviceMemory>(text); }
std::optional<sim::WorldMemory> read_world(std::string_view text) { return read<sim::WorldMemory>(text); }

}  // namespace berth::journal
