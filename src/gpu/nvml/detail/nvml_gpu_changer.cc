#include "gpu/nvml/detail/nvml_gpu_changer.h"

#include "gpu/nvml/detail/answers.h"
#include "gpu/nvml_abi/constants.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::ComputeInstance;
using nvml_abi::Device;
using nvml_abi::GpuInstance;

GpuAnswer<std::uint32_t> NvmlGpuChanger::create_gpu_instance(const std::string& uuid, std::uint32_t profile_id,
                                                             int start, int length) {
  const GpuAnswer<Device> device = library_.device_of(uuid);
  if (!device) return tl::unexpected(device.error());
  const nvml_abi::GpuInstancePlacement place{static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(length)};
  GpuInstance made = nullptr;
  Code code = functions_.nvmlDeviceCreateGpuInstanceWithPlacement(*device, profile_id, &place, &made);
  if (code != Code::kSuccess) return failed("nvmlDeviceCreateGpuInstanceWithPlacement", code);
  nvml_abi::GpuInstanceDescription description;
  code = library_.functions().nvmlGpuInstanceGetInfo(made, &description);
  if (code != Code::kSuccess) return failed("nvmlGpuInstanceGetInfo", code);
  return description.id;
}

GpuAnswer<std::uint32_t> NvmlGpuChanger::create_compute_instance(const std::string& uuid, std::uint32_t gpu_instance) {
  const GpuAnswer<GpuInstance> instance = find_gpu_instance(uuid, gpu_instance);
  if (!instance) return tl::unexpected(instance.error());
  const GpuAnswer<std::uint32_t> profile_id = library_.whole_profile_of(uuid, *instance);
  if (!profile_id) return tl::unexpected(profile_id.error());
  ComputeInstance made = nullptr;
  Code code = functions_.nvmlGpuInstanceCreateComputeInstance(*instance, *profile_id, &made);
  if (code != Code::kSuccess) return failed("nvmlGpuInstanceCreateComputeInstance", code);
  nvml_abi::ComputeInstanceDescriptionV2 description;
  code = library_.functions().nvmlComputeInstanceGetInfo_v2(made, &description);
  if (code != Code::kSuccess) return failed("nvmlComputeInstanceGetInfo_v2", code);
  return description.id;
}

GpuAnswer<void> NvmlGpuChanger::destroy_compute_instance(const std::string& uuid, std::uint32_t gpu_instance,
                                                         std::uint32_t id) {
  const GpuAnswer<GpuInstance> instance = find_gpu_instance(uuid, gpu_instance);
  if (!instance) return tl::unexpected(instance.error());
  ComputeInstance compute = nullptr;
  Code code = functions_.nvmlGpuInstanceGetComputeInstanceById(*instance, id, &compute);
  if (code != Code::kSuccess) return failed("nvmlGpuInstanceGetComputeInstanceById", code);
  code = functions_.nvmlComputeInstanceDestroy(compute);
  if (code != Code::kSuccess) return failed("nvmlComputeInstanceDestroy", code);
  return {};
}

GpuAnswer<void> NvmlGpuChanger::destroy_gpu_instance(const std::string& uuid, std::uint32_t id) {
  const GpuAnswer<GpuInstance> instance = find_gpu_instance(uuid, id);
  if (!instance) return tl::unexpected(instance.error());
  const Code code = functions_.nvmlGpuInstanceDestroy(*instance);
  if (code != Code::kSuccess) return failed("nvmlGpuInstanceDestroy", code);
  return {};
}

GpuAnswer<ModeChange> NvmlGpuChanger::set_mig_mode(const std::string& uuid, bool is_on) {
  const GpuAnswer<Device> device = library_.device_of(uuid);
  if (!device) return tl::unexpected(device.error());
  Code activation = Code::kSuccess;
  const std::uint32_t mode = is_on ? nvml_abi::kMigEnabled : nvml_abi::kMigDisabled;
  const Code code = functions_.nvmlDeviceSetMigMode(*device, mode, &activation);
  if (code != Code::kSuccess) return failed("nvmlDeviceSetMigMode", code);
  if (activation == Code::kSuccess) return ModeChange::kDone;
  if (activation == Code::kResetRequired) return ModeChange::kNeedsReset;
  if (activation == Code::kInUse) return ModeChange::kInUse;
  return failed("nvmlDeviceSetMigMode", activation);
}

GpuAnswer<GpuInstance> NvmlGpuChanger::find_gpu_instance(const std::string& uuid, std::uint32_t id) {
  const GpuAnswer<Device> device = library_.device_of(uuid);
  if (!device) return tl::unexpected(device.error());
  GpuInstance instance = nullptr;
  const Code code = functions_.nvmlDeviceGetGpuInstanceById(*device, id, &instance);
  if (code != Code::kSuccess) return failed("nvmlDeviceGetGpuInstanceById", code);
  return instance;
}

}  // namespace berth::edges::detail
