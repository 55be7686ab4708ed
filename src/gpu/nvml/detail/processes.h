/// The processes on a GPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

/// The handle of a MIG device, and the instances that it is.
struct MigDeviceHandle {
  nvml_abi::Device device = nullptr;
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
};

/// All that compute or draw on the GPU and its MIG devices, by pid and instance, each once. To ask the GPU alone is not
/// enough: it shows the processes of its MIG devices only to callers with more rights, and older drivers do not say
/// where they are. What this caller may not see is left out.
[[nodiscard]] GpuAnswer<std::vector<GpuProcessSeen>> read_processes(const Functions& functions, nvml_abi::Device gpu,
                                                                    std::span<const MigDeviceHandle> mig_devices);

}  // namespace berth::edges::detail
