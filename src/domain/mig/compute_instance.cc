#include "domain/mig/compute_instance.h"

#include <algorithm>
#include <cstdint>

#include "base/core/ensure.h"

namespace berth::mig {
namespace {

constexpr int kSizes[] = {1, 2, 3, 4, 7};

bool has_size(const MigProfile& profile, int size) {
  if (size == 3 && profile.compute_slices == 4) return false;  // not in any listing of a 4g
  return size <= profile.compute_slices && std::ranges::find(kSizes, size) != std::end(kSizes);
}

const MigProfile& profile_of(const GpuModel& model, ProfileId id) {
  ENSURE(id.index < model.profiles.size());
  return model.profiles[id.index];
}

}  // namespace

std::vector<ComputeProfile> compute_profiles(const GpuModel& model, ProfileId gpu_instance) {
  const MigProfile& whole = profile_of(model, gpu_instance);
  const bool is_listed = model.name == "A100-40GB" && whole.name == "3g.20gb";
  std::vector<ComputeProfile> profiles;
  for (const int size : kSizes) {
    if (!has_size(whole, size)) continue;
    ComputeProfile profile;
    profile.name = size == whole.compute_slices ? whole.name : std::to_string(size) + "c." + whole.name;
    profile.slices = size;
    profile.instances_max = whole.compute_slices / size;
    if (whole.sms) profile.sms = *whole.sms * size / whole.compute_slices;
    profile.is_unverified = !is_listed;
    profiles.push_back(profile);
  }
  return profiles;
}

std::optional<std::string> find_compute_clash(const GpuModel& model, ProfileId gpu_instance,
                                              std::span<const int> sizes) {
  const MigProfile& whole = profile_of(model, gpu_instance);
  std::int64_t sum = 0;
  for (const int size : sizes) {
    if (!has_size(whole, size)) return whole.name + " has no compute instance of " + std::to_string(size) + " slices";
    sum += size;
  }
  if (sum <= whole.compute_slices) return std::nullopt;
  return whole.name + " has " + std::to_string(whole.compute_slices) + " compute slices, its compute instances need " +
         std::to_string(sum);
}

}  // namespace berth::mig
