#include "live/rows/world_rows.h"

#include "live/rows/names.h"

namespace berth::journal {
namespace {

template <class T>
std::optional<T> read(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  T value;
  if (json.is_discarded() || !read_json(json, value)) return std::nullopt;
  return value;
}

}  // namespace

std::string device_json(const world::DeviceMemory& device) { return json_of(device).dump(); }
std::string world_json(const sim::WorldMemory& world) { return json_of(world).dump(); }
std::optional<world::DeviceMemory> read_device(std::string_view text) { return read<world::DeviceMemory>(text); }
std::optional<sim::WorldMemory> read_world(std::string_view text) { return read<sim::WorldMemory>(text); }

}  // namespace berth::journal
