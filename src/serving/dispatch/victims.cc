#include "serving/dispatch/victims.h"

#include <algorithm>
#include <tuple>

namespace berth::serving {

std::optional<std::vector<ModelIndex>> victims_of(const DeviceState& device, std::int64_t bytes,
                                                  const std::vector<ModelIndex>& candidates, Instant now,
                                                  VictimsAre which) {
  std::vector<ModelIndex> victims;
  std::int64_t missing = bytes - device.bytes_free();
  for (const ModelIndex candidate : candidates) {
    if (missing <= 0) break;
    const ServedModel& model = device.model(candidate);
    if (!model.may_leave(now) || (which == VictimsAre::kIdle && !model.is_idle())) continue;
    missing -= model.bytes_reserved;
    victims.push_back(candidate);
  }
  if (missing > 0) return std::nullopt;
  return victims;
}

std::optional<std::vector<ModelIndex>> least_recent_victims(const DeviceState& device, std::int64_t bytes,
                                                            Instant now) {
  if (bytes <= device.bytes_free()) return std::vector<ModelIndex>();
  std::vector<ModelIndex> candidates;
  for (const ModelIndex index : Indices<ModelIndex>(device.models().size())) {
    if (device.model(index).residency == Residency::kResident) candidates.push_back(index);
  }
  std::ranges::sort(candidates, {}, [&](ModelIndex index) { return std::tuple(device.model(index).last_end, index); });
  return victims_of(device, bytes, candidates, now);
}

}  // namespace berth::serving
