#include "serving/dispatch/victims.h"

#include <algorithm>
#include <tuple>

namespace berth::serving {

std::optional<std::vector<ModelIndex>> victims_of(const DeviceState& device, std::int64_t bytes,
                                                  const std::vector<ModelIndex>& candidates) {
  std::vector<ModelIndex> victims;
  std::int64_t missing = bytes - device.bytes_free();
  for (const ModelIndex candidate : candidates) {
    if (missing <= 0) break;
    if (!device.model(candidate).is_idle()) continue;
    missing -= device.model(candidate).terms.bytes;
    victims.push_back(candidate);
  }
  if (missing > 0) return std::nullopt;
  return victims;
}

std::optional<std::vector<ModelIndex>> least_recent_victims(const DeviceState& device, std::int64_t bytes) {
  if (bytes <= device.bytes_free()) return std::vector<ModelIndex>();
  std::vector<ModelIndex> candidates;
  for (const ModelIndex index : Indices<ModelIndex>(device.models().size())) {
    if (device.model(index).residency == Residency::kResident) candidates.push_back(index);
  }
  std::ranges::sort(candidates, {}, [&](ModelIndex index) { return std::tuple(device.model(index).last_end, index); });
  return victims_of(device, bytes, candidates);
}

}  // namespace berth::serving
