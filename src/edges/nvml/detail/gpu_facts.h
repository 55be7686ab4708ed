/// What a GPU is: its identity and its MIG profiles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edges/nvml/detail/functions.h"
#include "ports/gpu_library.h"

namespace berth::edges::detail {

/// About 30 calls for a GPU with MIG.
[[nodiscard]] GpuAnswer<GpuFacts> read_facts(const Functions& functions, nvml_abi::Device device, std::string uuid);

/// The GPU's UUID, or that of a MIG device.
[[nodiscard]] GpuAnswer<std::string> read_uuid(const Functions& functions, nvml_abi::Device device);

/// Ids of the GPU instance profiles of a GPU with MIG, in the order of the library's numbers.
[[nodiscard]] GpuAnswer<std::vector<std::uint32_t>> read_profile_ids(const Functions& functions,
                                                                     nvml_abi::Device device);

/// Ids of the compute instance profiles that a GPU instance has, in the order of the library's numbers. All instances
/// of its profile have the same.
[[nodiscard]] GpuAnswer<std::vector<std::uint32_t>> read_compute_profile_ids(const Functions& functions,
                                                                             nvml_abi::GpuInstance instance);

}  // namespace berth::edges::detail
