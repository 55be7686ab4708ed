#include "gpu/nvml_sim/reset.h"

#include <algorithm>

#include "domain/mig/board.h"

namespace berth::nvml_sim {

void reset_gpu(GpuRecord& gpu) {
  std::ranges::fill(gpu.gpu_instances, GpuInstanceRecord{});
  std::ranges::fill(gpu.processes, ProcessRecord{});
  gpu.is_mig_on = gpu.is_mig_pending_on;
  gpu.is_lost = 0;
  gpu.recovery_action = 0;
  gpu.counters.is_remapping_pending = 0;
  ++gpu.resets;
}

void reboot(MachineRecord& machine, std::string_view boot_id, std::int64_t now_us) {
  for (std::uint32_t index = 0; index < machine.gpu_count; ++index) {
    GpuRecord& gpu = machine.gpus[index];
    if (!mig::board_of(model_of(gpu)).mode_survives_reboot) gpu.is_mig_pending_on = 0;
    reset_gpu(gpu);
    gpu.counters.energy_mj = 0;
    gpu.counters.energy_at_us = now_us;
  }
  put_text(machine.boot_id, boot_id);
  machine.booted_at_us = now_us;
  ++machine.boots;
}

}  // namespace berth::nvml_sim
