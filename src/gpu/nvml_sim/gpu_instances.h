/// GPU instances: profiles, placements, creation, destruction. Geometry comes from `mig`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/values/slice.h"
#include "gpu/nvml_sim/device_rules.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

/// The profile with a number of NVML's enumeration (not its id). kInvalidArgument: a number unknown to this version of
/// NVML. kNotSupported: a model without MIG, or without this profile.
[[nodiscard]] Answer<ProfileId> gpu_instance_profile(const GpuRecord& gpu, std::uint32_t number);
/// The profile with an id of the model, as `nvidia-smi mig -lgip` lists them. kNotSupported: a model without MIG.
/// kInvalidArgument: no such id.
[[nodiscard]] Answer<ProfileId> gpu_instance_profile_by_id(const GpuRecord& gpu, std::uint32_t id);
/// Memory of an instance of the profile: from the catalogue, else in proportion to its units.
[[nodiscard]] std::uint32_t memory_mib_of(const GpuModel& model, ProfileId profile);

/// Where the profile can be placed on an empty GPU; independent of the mode. Errors as `gpu_instance_profile_by_id`.
[[nodiscard]] Answer<std::vector<Interval>> possible_placements(const GpuRecord& gpu, std::uint32_t profile_id);
/// How many more instances of the profile fit now; independent of the mode. Errors as `gpu_instance_profile_by_id`.
[[nodiscard]] Answer<int> remaining_capacity(const GpuRecord& gpu, std::uint32_t profile_id);
/// Ids of the GPU instances of the profile, ascending. Errors as `gpu_instance_profile_by_id`.
[[nodiscard]] Answer<std::vector<int>> gpu_instances_of(const GpuRecord& gpu, std::uint32_t profile_id);

[[nodiscard]] bool has_instances_of(const GpuRecord& gpu, ProfileId profile);

/// Creates a GPU instance and returns its id. Without a placement the driver chooses one (placement_choice.h). Errors
/// as `gpu_instance_profile_by_id`, then kNotSupported: the mode is off. kNoPermission. kInvalidArgument: no legal
/// placement of the profile. kInsufficientResources: occupied, or the profile or the media engines are used up.
[[nodiscard]] Answer<int> create_gpu_instance(GpuRecord& gpu, std::uint32_t profile_id,
                                              const std::optional<Interval>& placement, const Caller& caller);
/// kNoPermission. kNotFound: no such instance. kInUse: it has a compute instance, or a process.
[[nodiscard]] nvml_abi::Code destroy_gpu_instance(GpuRecord& gpu, int id, const Caller& caller);

/// The id of an instance at this place: its position in the binary tree of halves, breadth first. Source: listings in
/// NVIDIA's guide; drivers differ, so clients must read the place of an instance.
[[nodiscard]] int gpu_instance_id(const GpuModel& model, const Interval& place);
/// Requires: it exists.
[[nodiscard]] Interval place_of(const GpuRecord& gpu, int gpu_instance);

}  // namespace berth::nvml_sim
