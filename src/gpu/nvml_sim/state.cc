#include "gpu/nvml_sim/state.h"

#include <algorithm>
#include <cstring>

#include "base/core/ensure.h"
#include "domain/mig/board.h"
#include "domain/mig/catalogue.h"
#include "gpu/nvml_sim/identity.h"

namespace berth::nvml_sim {

void put_text(char* field, std::size_t size, std::string_view text) {
  std::memset(field, 0, size);
  std::memcpy(field, text.data(), std::min(text.size(), size - 1));
}

GpuRecord make_gpu(const GpuSetup& setup) {
  constexpr std::uint32_t kNvidiaVendor = 0x10DE;
  ENSURE(setup.model != nullptr && setup.index < kGpusMax);
  ENSURE(setup.model->is_mig_capable() || !setup.is_mig_on);
  const PciAddress address = pci_address(setup.index);
  GpuRecord gpu;
  put_text(gpu.model, setup.model->name);
  put_text(gpu.uuid, gpu_uuid(setup.model->name, setup.index));
  put_text(gpu.serial, board_serial(setup.model->name, setup.index));
  put_text(gpu.bus_id, bus_id(address));
  gpu.index = setup.index;
  gpu.pci_domain = address.domain;
  gpu.pci_bus = address.bus;
  gpu.pci_device_id = static_cast<std::uint32_t>(mig::board_of(*setup.model).pci_device_id) << 16 | kNvidiaVendor;
  gpu.is_mig_on = gpu.is_mig_pending_on = setup.is_mig_on ? 1 : 0;
  gpu.is_before_r510 = setup.is_before_r510 ? 1 : 0;
  return gpu;
}

const GpuModel& model_of(const GpuRecord& gpu) {
  const std::vector<GpuModel>& models = mig::gpu_models();
  const auto found = std::ranges::find(models, std::string_view(gpu.model), &GpuModel::name);
  ENSURE(found != models.end());
  return *found;
}

bool has_instances(const GpuRecord& gpu) {
  return std::ranges::any_of(gpu.gpu_instances,
                             [](const GpuInstanceRecord& instance) { return instance.is_there != 0; });
}

}  // namespace berth::nvml_sim
