#include "gpu/nvml_sim/compute_instances.h"

#include <algorithm>
#include <bit>

#include "base/core/ensure.h"
#include "domain/mig/board.h"
#include "domain/mig/compute_instance.h"
#include "gpu/nvml_abi/names.h"
#include "gpu/nvml_sim/processes.h"

namespace berth::nvml_sim {

using nvml_abi::Code;

std::uint32_t compute_profile_of_slices(int slices) {
  const auto number = nvml_abi::find_number(nvml_abi::compute_instance_profiles(), std::to_string(slices) + "_SLICE");
  ENSURE(number.has_value());
  return *number;
}

namespace {

std::vector<ComputeProfile> profiles_of(const GpuRecord& gpu, int gpu_instance) {
  const GpuModel& model = model_of(gpu);
  ENSURE(gpu.gpu_instances[gpu_instance].is_there != 0);
  const ProfileId profile{gpu.gpu_instances[gpu_instance].profile};
  const int whole_sms = profile_sms(model, profile);
  const int whole_slices = model.profiles[profile.index].compute_slices;
  std::vector<ComputeProfile> profiles;
  for (const mig::ComputeProfile& known : mig::compute_profiles(model, profile)) {
    profiles.push_back({.id = compute_profile_of_slices(known.slices),
                        .name = "MIG " + known.name,
                        .slices = known.slices,
                        .instances_max = known.instances_max,
                        .sms = known.sms.value_or(whole_sms * known.slices / whole_slices)});
  }
  return profiles;
}

Answer<ComputeProfile> profile_with(const GpuRecord& gpu, int gpu_instance, std::uint32_t id, Code otherwise) {
  const std::vector<ComputeProfile> profiles = profiles_of(gpu, gpu_instance);
  const auto found = std::ranges::find(profiles, id, &ComputeProfile::id);
  if (found == profiles.end()) return refuse(otherwise);
  return *found;
}

/// From Hopper on a compute instance covers a power of two of slices and begins at multiples of it; on Ampere it covers
/// its own and begins anywhere.
bool is_aligned(const GpuRecord& gpu) {
  return mig::board_of(model_of(gpu)).architecture != mig::Architecture::kAmpere;
}

int length_of(const GpuRecord& gpu, int slices) {
  return is_aligned(gpu) ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(slices))) : slices;
}

std::vector<Interval> places_of(const GpuRecord& gpu, int gpu_instance, int slices) {
  const int whole = model_of(gpu).profiles[gpu.gpu_instances[gpu_instance].profile].compute_slices;
  const int length = length_of(gpu, slices);
  std::vector<Interval> places;
  for (int start = 0; start + slices <= whole; start += is_aligned(gpu) ? length : 1) places.push_back({start, length});
  return places;
}

/// Bit s: slice s of the GPU instance is taken.
std::uint32_t taken_slices(const GpuRecord& gpu, int gpu_instance) {
  const GpuInstanceRecord& instance = gpu.gpu_instances[gpu_instance];
  std::uint32_t taken = 0;
  for (const ComputeInstanceRecord& compute : instance.compute_instances) {
    if (compute.is_there != 0) taken |= ((1U << length_of(gpu, compute.slices)) - 1) << compute.start;
  }
  return taken;
}

bool is_free(std::uint32_t taken, const Interval& place) {
  return (taken & (((1U << place.length) - 1) << place.start)) == 0;
}

/// The free place that leaves the most placements of any kind free; ties: the lowest. On Ampere the lowest free place.
std::optional<Interval> best_of(const GpuRecord& gpu, int gpu_instance, const std::vector<Interval>& places) {
  const std::uint32_t taken = taken_slices(gpu, gpu_instance);
  std::optional<Interval> best;
  std::ptrdiff_t best_left = -1;
  for (const Interval& place : places) {
    if (!is_free(taken, place)) continue;
    if (!is_aligned(gpu)) return place;
    const std::uint32_t then = taken | (((1U << place.length) - 1) << place.start);
    std::ptrdiff_t left = 0;
    for (const ComputeProfile& profile : profiles_of(gpu, gpu_instance)) {
      left += std::ranges::count_if(places_of(gpu, gpu_instance, profile.slices),
                                    [&](const Interval& other) { return is_free(then, other); });
    }
    if (left <= best_left) continue;
    best_left = left;
    best = place;
  }
  return best;
}

}  // namespace

Answer<ComputeProfile> compute_profile(const GpuRecord& gpu, int gpu_instance, std::uint32_t number) {
  const bool is_known = !nvml_abi::find_name(nvml_abi::compute_instance_profiles(), number).empty();
  return profile_with(gpu, gpu_instance, number, is_known ? Code::kNotSupported : Code::kInvalidArgument);
}

Answer<ComputeProfile> compute_profile_by_id(const GpuRecord& gpu, int gpu_instance, std::uint32_t id) {
  return profile_with(gpu, gpu_instance, id, Code::kInvalidArgument);
}

Answer<std::vector<Interval>> compute_placements(const GpuRecord& gpu, int gpu_instance, std::uint32_t profile_id) {
  const Answer<ComputeProfile> profile = compute_profile_by_id(gpu, gpu_instance, profile_id);
  if (!profile) return refuse(profile.error());
  return places_of(gpu, gpu_instance, profile->slices);
}

Answer<int> remaining_compute_capacity(const GpuRecord& gpu, int gpu_instance, std::uint32_t profile_id) {
  const Answer<ComputeProfile> profile = compute_profile_by_id(gpu, gpu_instance, profile_id);
  if (!profile) return refuse(profile.error());
  std::uint32_t taken = taken_slices(gpu, gpu_instance);
  int count = 0;
  for (const Interval& place : places_of(gpu, gpu_instance, profile->slices)) {
    if (!is_free(taken, place)) continue;
    taken |= ((1U << place.length) - 1) << place.start;
    ++count;
  }
  return count;
}

Interval compute_place_of(const GpuRecord& gpu, int gpu_instance, int id) {
  const ComputeInstanceRecord& compute = gpu.gpu_instances[gpu_instance].compute_instances[id];
  ENSURE(compute.is_there != 0);
  return {compute.start, length_of(gpu, compute.slices)};
}

Answer<std::vector<int>> compute_instances_of(const GpuRecord& gpu, int gpu_instance, std::uint32_t profile_id) {
  const Answer<ComputeProfile> profile = compute_profile_by_id(gpu, gpu_instance, profile_id);
  if (!profile) return refuse(profile.error());
  std::vector<int> ids;
  for (int id = 0; id < kComputeInstancesMax; ++id) {
    const ComputeInstanceRecord& compute = gpu.gpu_instances[gpu_instance].compute_instances[id];
    if (compute.is_there != 0 && compute.slices == profile->slices) ids.push_back(id);
  }
  return ids;
}

Answer<int> create_compute_instance(GpuRecord& gpu, int gpu_instance, std::uint32_t profile_id,
                                    const std::optional<Interval>& placement, const Caller& caller) {
  const Answer<ComputeProfile> profile = compute_profile_by_id(gpu, gpu_instance, profile_id);
  if (!profile) return refuse(profile.error());
  if (!caller.may_change) return refuse(Code::kNoPermission);
  std::vector<Interval> places = places_of(gpu, gpu_instance, profile->slices);
  if (placement) {
    if (std::ranges::find(places, *placement) == places.end()) return refuse(Code::kInvalidArgument);
    places = {*placement};
  }
  GpuInstanceRecord& instance = gpu.gpu_instances[gpu_instance];
  const auto place = best_of(gpu, gpu_instance, places);
  if (!place) return refuse(Code::kInsufficientResources);

  auto* const free_id = std::ranges::find(instance.compute_instances, 0, &ComputeInstanceRecord::is_there);
  ENSURE(free_id != std::end(instance.compute_instances));
  free_id->is_there = 1;
  free_id->start = static_cast<std::uint8_t>(place->start);
  free_id->slices = static_cast<std::uint8_t>(profile->slices);
  free_id->generation = ++gpu.generations;
  return static_cast<int>(free_id - std::begin(instance.compute_instances));
}

Code destroy_compute_instance(GpuRecord& gpu, int gpu_instance, int id, const Caller& caller) {
  if (!caller.may_change) return Code::kNoPermission;
  ComputeInstanceRecord& compute = gpu.gpu_instances[gpu_instance].compute_instances[id];
  if (compute.is_there == 0) return Code::kNotFound;
  if (has_process(gpu, MigDevice{gpu_instance, id})) return Code::kInUse;
  compute = ComputeInstanceRecord{};
  return Code::kSuccess;
}

}  // namespace berth::nvml_sim
