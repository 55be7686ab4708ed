#include "gpu/nvml_sim/mig_devices.h"

#include "gpu/nvml_sim/identity.h"

namespace berth::nvml_sim {

std::vector<MigDevice> mig_devices(const GpuRecord& gpu) {
  std::vector<MigDevice> devices;
  for (int gpu_instance = 0; gpu_instance < kGpuInstancesMax; ++gpu_instance) {
    const GpuInstanceRecord& instance = gpu.gpu_instances[gpu_instance];
    for (int compute = 0; instance.is_there != 0 && compute < kComputeInstancesMax; ++compute) {
      if (instance.compute_instances[compute].is_there != 0) devices.push_back({gpu_instance, compute});
    }
  }
  return devices;
}

int mig_devices_max(const GpuRecord& gpu) { return gpu.is_mig_on != 0 ? model_of(gpu).compute_slices : 0; }

std::string mig_uuid(const GpuRecord& gpu, const MigDevice& device) {
  const std::string ids = std::to_string(device.gpu_instance) + "/" + std::to_string(device.compute_instance);
  return "MIG-" + name_based_uuid(gpu.uuid, ids);
}

}  // namespace berth::nvml_sim
