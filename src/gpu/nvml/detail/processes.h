/// The processes on a GPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

/// The handle of a MIG device, and the ids of its instances.
struct MigDeviceHandle {
  nvml_abi::Device device = nullptr;
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
};

/// All compute and graphics processes on the GPU and its MIG devices, by pid and instance, each once. Querying only the
/// GPU is not enough: it shows the processes of its MIG devices only to callers with more rights, and older drivers do
/// not report their instance. Processes that this caller may not see are left out.
[[nodiscard]] GpuAnswer<std::vector<GpuProcessSeen>> read_processes(const Functions& functions, nvml_abi::Device gpu,
                                                                    std::span<const MigDeviceHandle> mig_devices);

}  // namespace berth::edges::detail
