/// Compute instances of a GPU instance that exists.
///
/// On Ampere an instance covers exactly its slices, begins anywhere, and the driver takes the first place where it
/// fits. From Hopper on it covers a power of two of slices (4 for its 3, 8 for its 7), begins at multiples of that, and
/// the driver takes the place that leaves the most placements of all kinds free; ties: the lowest. Sources:
/// open-gpu-kernel-modules @df1c9a3, kernel_mig_manager.c (`kmigmgrIsCTSAlignmentRequired`, `kmigmgrGetFreeCTSId`),
/// kernel_graphics_manager.c (`kgrmgrCheckVeidsRequest`); public listings of `nvidia-smi mig -lci` (a 3g is 0:3 on an
/// A100, 0:4 on an H100). The RTX PRO 6000 is assumed to behave like Hopper (unverified).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml_sim/device_rules.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

/// A kind of compute instance. Its id is the number in NVML's enumeration for its count of slices.
struct ComputeProfile {
  std::uint32_t id = 0;
  std::string name;  ///< "MIG 1c.3g.20gb"
  int slices = 0;
  int instances_max = 0;  ///< if there is no instance of another kind
  int sms = 0;
};
/// Requires: the GPU instance exists. kNotSupported: the instance has no such profile. kInvalidArgument: a number
/// unknown to this version of NVML.
[[nodiscard]] Answer<ComputeProfile> compute_profile(const GpuRecord& gpu, int gpu_instance, std::uint32_t number);
/// The id of the profile with `slices` slices. Requires: NVML has one.
[[nodiscard]] std::uint32_t compute_profile_of_slices(int slices);
/// kInvalidArgument: no such id.
[[nodiscard]] Answer<ComputeProfile> compute_profile_by_id(const GpuRecord& gpu, int gpu_instance, std::uint32_t id);
/// Errors of the following three: those of `compute_profile_by_id`.
[[nodiscard]] Answer<std::vector<Interval>> compute_placements(const GpuRecord& gpu, int gpu_instance,
                                                               std::uint32_t profile_id);
[[nodiscard]] Answer<int> remaining_compute_capacity(const GpuRecord& gpu, int gpu_instance, std::uint32_t profile_id);
[[nodiscard]] Answer<std::vector<int>> compute_instances_of(const GpuRecord& gpu, int gpu_instance,
                                                            std::uint32_t profile_id);

/// The slices of a compute instance. Requires: it exists.
[[nodiscard]] Interval compute_place_of(const GpuRecord& gpu, int gpu_instance, int id);

/// Creates a compute instance and returns its id, the lowest free one. Without a placement the driver chooses one.
/// kInvalidArgument: no such profile. kNoPermission. kInvalidArgument: no legal placement. kInsufficientResources: its
/// slices are taken.
[[nodiscard]] Answer<int> create_compute_instance(GpuRecord& gpu, int gpu_instance, std::uint32_t profile_id,
                                                  const std::optional<Interval>& placement, const Caller& caller);
/// kNoPermission. kNotFound: no such instance. kInUse: a process is on it.
[[nodiscard]] nvml_abi::Code destroy_compute_instance(GpuRecord& gpu, int gpu_instance, int id, const Caller& caller);

}  // namespace berth::nvml_sim
