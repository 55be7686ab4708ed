#include "sim/world/find_news.h"

#include <algorithm>
#include <cstdint>

#include "world/slices/reconcile.h"

namespace berth::sim {

std::vector<Event> find_news(const Snapshot& engine, const std::vector<world::DeviceMemory>& devices,
                             const std::vector<ServiceMemory>& services, const std::set<Slice>& to_destroy,
                             const std::map<GpuId, std::string>& losses, Instant now) {
  std::vector<Event> events = world::find_device_news(engine, devices, to_destroy, losses, now);
  for (std::uint32_t index = 0; index < std::min(services.size(), engine.services.size()); ++index) {
    const ServiceState& known = engine.services[index];
    const auto& retraining = services[index].retraining;
    if (known.is_absent || !retraining || services[index].revision != set_revision(known.revision)) continue;
    if (retraining->is_wanted && !known.is_retraining_due) {
      events.push_back({.at = now, .what = RetrainingDue{{index}}});
    } else if (!retraining->is_wanted && known.is_retraining_due) {
      events.push_back({.at = now, .what = RetrainingDone{{index}}});
    }
  }
  return events;
}

}  // namespace berth::sim
