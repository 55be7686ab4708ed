/// The facts of a GPU: its identity and its MIG profiles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

/// About 30 calls for a GPU with MIG.
[[nodiscard]] GpuAnswer<GpuFacts> read_facts(const Functions& functions, nvml_abi::Device device, std::string uuid);

/// The GPU's UUID, or that of a MIG device.
[[nodiscard]] GpuAnswer<std::string> read_uuid(const Functions& functions, nvml_abi::Device device);

/// A profile of GPU instances or compute instances.
struct ProfileSize {
  std::uint32_t id = 0;
  int slices = 0;  ///< compute slices
};

/// The GPU instance profiles of a GPU with MIG, in the order of the library's numbers.
[[nodiscard]] GpuAnswer<std::vector<ProfileSize>> read_profile_sizes(const Functions& functions,
                                                                     nvml_abi::Device device);

/// The compute instance profiles of a GPU instance, in the order of the library's numbers. They are the same for all
/// instances of one profile.
[[nodiscard]] GpuAnswer<std::vector<ProfileSize>> read_compute_profile_sizes(const Functions& functions,
                                                                             nvml_abi::GpuInstance instance);

}  // namespace berth::edges::detail
