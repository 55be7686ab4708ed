/// Compute instances of a GPU instance that exists. Only the profiles of a 3g have a public listing; that placements of
/// two slices begin at even ones, and of three or four at multiples of four, is unverified for the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvml_sim/device_rules.h"
#include "nvml_sim/state.h"

namespace berth::nvml_sim {

/// A kind of compute instance. Its id is the number of NVML's enumeration for as many slices.
struct ComputeProfile {
  std::uint32_t id = 0;
  std::string name;  ///< "MIG 1c.3g.20gb"
  int slices = 0;
  int instances_max = 0;  ///< if there is no other kind
  int sms = 0;
};
/// Requires: the GPU instance exists. kNotSupported: the instance has no such profile. kInvalidArgument: a number that this
/// version of NVML does not know.
[[nodiscard]] Answer<ComputeProfile> compute_profile(const GpuRecord& gpu, int gpu_instance, std::uint32_t number);
/// The id of the profile with so many slices. Requires: NVML knows one.
[[nodiscard]] std::uint32_t compute_profile_of_slices(int slices);
/// kInvalidArgument: no such id.
[[nodiscard]] Answer<ComputeProfile> compute_profile_by_id(const GpuRecord& gpu, int gpu_instance, std::uint32_t id);
/// Errors of the following: those of `compute_profile_by_id`.
[[nodiscard]] Answer<std::vector<Interval>> compute_placements(const GpuRecord& gpu, int gpu_instance,
                                                               std::uint32_t profile_id);
[[nodiscard]] Answer<int> remaining_compute_capacity(const GpuRecord& gpu, int gpu_instance, std::uint32_t profile_id);
[[nodiscard]] Answer<std::vector<int>> compute_instances_of(const GpuRecord& gpu, int gpu_instance,
                                                            std::uint32_t profile_id);

/// Creates a compute instance and returns its id, the lowest that is free. Without a placement it begins at the first slice
/// where it fits. kInvalidArgument: no such profile. kNoPermission. kInvalidArgument: no legal placement.
/// kInsufficientResources: its slices are taken.
[[nodiscard]] Answer<int> create_compute_instance(GpuRecord& gpu, int gpu_instance, std::uint32_t profile_id,
                                                  const std::optional<Interval>& placement, const Caller& caller);
/// kNoPermission. kNotFound: no such instance. kInUse: a process is on it.
[[nodiscard]] nvml_abi::Code destroy_compute_instance(GpuRecord& gpu, int gpu_instance, int id, const Caller& caller);

}  // namespace berth::nvml_sim
