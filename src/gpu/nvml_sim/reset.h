/// Resets of a GPU, and reboots of the whole machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

/// A reset of one GPU: instances and processes are gone, a pending mode takes effect, a lost GPU is back. Injected
/// faults stay. The caller decides whether a GPU in use may be reset.
void reset_gpu(GpuRecord& gpu);

/// A reboot: every GPU is reset, the mode is off for models that do not keep it, energy counts from 0.
void reboot(MachineRecord& machine, std::string_view boot_id, std::int64_t now_us);

}  // namespace berth::nvml_sim
