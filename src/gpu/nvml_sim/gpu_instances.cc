#include "gpu/nvml_sim/gpu_instances.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "gpu/nvml_abi/constants.h"
#include "gpu/nvml_abi/names.h"
#include "gpu/nvml_sim/placement_choice.h"
#include "gpu/nvml_sim/processes.h"

namespace berth::nvml_sim {

using nvml_abi::Code;

namespace {

/// The instances on the GPU in the form that `mig` uses.
mig::State state_of(const GpuRecord& gpu) {
  mig::State state;
  for (const GpuInstanceRecord& instance : gpu.gpu_instances) {
    if (instance.is_there != 0) state.push_back({.start = instance.start, .profile = {instance.profile}});
  }
  std::ranges::sort(state);
  return state;
}

/// The second of two instances that share the GPU's memory has a little less: observed on a 3g of an A100-40GB, and
/// assumed for all halves of a GPU.
std::uint32_t memory_of_next(const GpuRecord& gpu, const GpuModel& model, ProfileId profile) {
  constexpr std::uint32_t kLessMib = 128;
  const std::uint32_t memory_mib = memory_mib_of(model, profile);
  const MigProfile& wanted = model.profiles[profile.index];
  const bool is_second =
      wanted.length * 2 == model.units && wanted.instances_max == 2 && has_instances_of(gpu, profile);
  return is_second ? memory_mib - kLessMib : memory_mib;
}

}  // namespace

bool has_instances_of(const GpuRecord& gpu, ProfileId profile) {
  return std::ranges::any_of(gpu.gpu_instances, [&](const GpuInstanceRecord& instance) {
    return instance.is_there != 0 && instance.profile == profile.index;
  });
}

Answer<ProfileId> gpu_instance_profile(const GpuRecord& gpu, std::uint32_t number) {
  const std::string_view name = nvml_abi::find_name(nvml_abi::gpu_instance_profiles(), number);
  if (name.empty()) return refuse(Code::kInvalidArgument);
  const GpuModel& model = model_of(gpu);
  const auto found = std::ranges::find(model.profiles, name, &MigProfile::nvml_enum);
  if (found == model.profiles.end()) return refuse(Code::kNotSupported);
  return ProfileId{static_cast<std::uint16_t>(found - model.profiles.begin())};
}

Answer<ProfileId> gpu_instance_profile_by_id(const GpuRecord& gpu, std::uint32_t id) {
  const GpuModel& model = model_of(gpu);
  if (!model.is_mig_capable()) return refuse(Code::kNotSupported);
  const auto found = std::ranges::find_if(model.profiles, [&](const MigProfile& profile) {
    return static_cast<std::uint32_t>(profile.device_profile_id) == id;
  });
  if (found == model.profiles.end()) return refuse(Code::kInvalidArgument);
  return ProfileId{static_cast<std::uint16_t>(found - model.profiles.begin())};
}

std::uint32_t memory_mib_of(const GpuModel& model, ProfileId profile) {
  const MigProfile& wanted = model.profiles[profile.index];
  if (wanted.memory_mib) return static_cast<std::uint32_t>(*wanted.memory_mib);
  return static_cast<std::uint32_t>(model.memory_mib * wanted.length / model.units);
}

Answer<std::vector<Interval>> possible_placements(const GpuRecord& gpu, std::uint32_t profile_id) {
  const Answer<ProfileId> profile = gpu_instance_profile_by_id(gpu, profile_id);
  if (!profile) return refuse(profile.error());
  const MigProfile& wanted = model_of(gpu).profiles[profile->index];
  std::vector<Interval> places;
  for (const int start : wanted.starts) places.push_back({start, wanted.length});
  return places;
}

Answer<int> remaining_capacity(const GpuRecord& gpu, std::uint32_t profile_id) {
  const Answer<ProfileId> profile = gpu_instance_profile_by_id(gpu, profile_id);
  if (!profile) return refuse(profile.error());
  const GpuModel& model = model_of(gpu);
  mig::State state = state_of(gpu);
  // All placements of a profile are equally long, so the first that fits is in some largest set.
  int count = 0;
  for (;;) {
    const std::vector<mig::Placement> fitting = fitting_placements(model, state, *profile, gpu.is_before_r510 != 0);
    if (fitting.empty()) return count;
    state.insert(std::ranges::upper_bound(state, fitting.front()), fitting.front());
    ++count;
  }
}

Answer<std::vector<int>> gpu_instances_of(const GpuRecord& gpu, std::uint32_t profile_id) {
  const Answer<ProfileId> profile = gpu_instance_profile_by_id(gpu, profile_id);
  if (!profile) return refuse(profile.error());
  std::vector<int> ids;
  for (int id = 0; id < kGpuInstancesMax; ++id) {
    const GpuInstanceRecord& instance = gpu.gpu_instances[id];
    if (instance.is_there != 0 && instance.profile == profile->index) ids.push_back(id);
  }
  return ids;
}

int gpu_instance_id(const GpuModel& model, const Interval& place) {
  return model.units / place.length - 1 + place.start / place.length;
}

Interval place_of(const GpuRecord& gpu, int gpu_instance) {
  const GpuInstanceRecord& instance = gpu.gpu_instances[gpu_instance];
  ENSURE(instance.is_there != 0);
  return {instance.start, model_of(gpu).profiles[instance.profile].length};
}

namespace {

/// The requested placement, or the driver's choice.
Answer<mig::Placement> placement_for(const GpuRecord& gpu, ProfileId profile, const std::optional<Interval>& asked) {
  const GpuModel& model = model_of(gpu);
  const mig::State state = state_of(gpu);
  if (!asked) {
    const auto chosen = chosen_placement(model, state, profile, gpu.is_before_r510 != 0);
    if (!chosen) return refuse(Code::kInsufficientResources);
    return *chosen;
  }
  const MigProfile& wanted = model.profiles[profile.index];
  const bool is_legal =
      asked->length == wanted.length && std::ranges::find(wanted.starts, asked->start) != wanted.starts.end();
  if (!is_legal) return refuse(Code::kInvalidArgument);
  const mig::Placement placement{.start = asked->start, .profile = profile};
  const std::vector<mig::Placement> fitting = fitting_placements(model, state, profile, gpu.is_before_r510 != 0);
  if (std::ranges::find(fitting, placement) == fitting.end()) return refuse(Code::kInsufficientResources);
  return placement;
}

}  // namespace

Answer<int> create_gpu_instance(GpuRecord& gpu, std::uint32_t profile_id, const std::optional<Interval>& placement,
                                const Caller& caller) {
  const Answer<ProfileId> profile = gpu_instance_profile_by_id(gpu, profile_id);
  if (!profile) return refuse(profile.error());
  if (gpu.is_mig_on == 0) return refuse(Code::kNotSupported);
  if (!caller.may_change) return refuse(Code::kNoPermission);
  const Answer<mig::Placement> place = placement_for(gpu, *profile, placement);
  if (!place) return refuse(place.error());

  const GpuModel& model = model_of(gpu);
  const int id = gpu_instance_id(model, {place->start, model.profiles[profile->index].length});
  GpuInstanceRecord made;
  made.is_there = 1;
  made.profile = static_cast<std::uint8_t>(profile->index);
  made.start = static_cast<std::uint8_t>(place->start);
  made.memory_mib = memory_of_next(gpu, model, *profile);
  made.generation = ++gpu.generations;
  ENSURE(gpu.gpu_instances[id].is_there == 0);
  gpu.gpu_instances[id] = made;
  return id;
}

Code destroy_gpu_instance(GpuRecord& gpu, int id, const Caller& caller) {
  if (!caller.may_change) return Code::kNoPermission;
  GpuInstanceRecord& instance = gpu.gpu_instances[id];
  if (instance.is_there == 0) return Code::kNotFound;
  const bool has_compute = std::ranges::any_of(
      instance.compute_instances, [](const ComputeInstanceRecord& compute) { return compute.is_there != 0; });
  if (has_compute || has_process(gpu, id)) return Code::kInUse;
  instance = GpuInstanceRecord{};
  return Code::kSuccess;
}

}  // namespace berth::nvml_sim
