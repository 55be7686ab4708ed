#include "gpu/device/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace berth::device {
namespace {

std::optional<ProfileId> profile_of(const GpuModel& model, const GpuInstanceSeen& instance) {
  for (std::size_t index = 0; index < model.profiles.size(); ++index) {
    const MigProfile& profile = model.profiles[index];
    const bool is_it = static_cast<std::uint32_t>(profile.device_profile_id) == instance.profile_id &&
                       profile.length == instance.length &&
                       std::ranges::find(profile.starts, instance.start) != profile.starts.end();
    if (is_it) return ProfileId{static_cast<std::uint16_t>(index)};
  }
  return std::nullopt;
}

}  // namespace

Standing standing_on(GpuId gpu, const GpuModel& model, const GpuReading& reading) {
  Standing standing;
  for (const GpuInstanceSeen& instance : reading.instances) {
    if (const auto profile = profile_of(model, instance)) {
      standing.slices.push_back({.gpu = gpu, .start = instance.start, .profile = *profile});
      const bool has_whole = std::ranges::any_of(instance.compute_instances, &ComputeInstanceSeen::is_whole);
      if (!has_whole) standing.remains.push_back(standing.slices.back());
    } else {
      standing.unknown.push_back(fmt::format("GPU instance {} of profile id {} at {}, length {}", instance.id,
                                             instance.profile_id, instance.start, instance.length));
    }
  }
  if (!reading.is_mig_on && !reading.processes.empty()) {
    standing.slices.push_back({.gpu = gpu, .start = 0, .profile = ProfileId::full()});
  }
  std::ranges::sort(standing.slices);
  std::ranges::sort(standing.remains);
  return standing;
}

std::optional<Slice> slice_of_instance(GpuId gpu, const GpuModel& model, const GpuReading& reading, std::uint32_t id) {
  const auto found = std::ranges::find(reading.instances, id, &GpuInstanceSeen::id);
  if (found == reading.instances.end()) return std::nullopt;
  const auto profile = profile_of(model, *found);
  if (!profile) return std::nullopt;
  return Slice{.gpu = gpu, .start = found->start, .profile = *profile};
}

const ComputeInstanceSeen* whole_device_of(const Slice& slice, const GpuModel& model, const GpuReading& reading) {
  for (const GpuInstanceSeen& instance : reading.instances) {
    if (instance.start != slice.start || profile_of(model, instance) != slice.profile) continue;
    const auto& parts = instance.compute_instances;
    return parts.size() == 1 && parts.front().is_whole ? &parts.front() : nullptr;
  }
  return nullptr;
}

}  // namespace berth::device
