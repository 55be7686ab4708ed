/// MIG devices: compute instances as clients see them, by index and UUID.
#pragma once

#include <string>
#include <vector>

#include "gpu/nvml_sim/device_rules.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

struct MigDevice {
  int gpu_instance = 0;
  int compute_instance = 0;
  friend bool operator==(const MigDevice&, const MigDevice&) = default;
};
/// All MIG devices of a GPU, by GPU instance, then compute instance: NVML's index is the position in this list.
[[nodiscard]] std::vector<MigDevice> mig_devices(const GpuRecord& gpu);
/// The most MIG devices that the GPU can have in its mode.
[[nodiscard]] int mig_devices_max(const GpuRecord& gpu);
/// "MIG-...": follows from the GPU's UUID and both ids, so it recurs with an instance that has the same ids.
[[nodiscard]] std::string mig_uuid(const GpuRecord& gpu, const MigDevice& device);

}  // namespace berth::nvml_sim
