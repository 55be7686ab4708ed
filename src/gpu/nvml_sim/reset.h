/// Resets: what becomes of a GPU when it, or the whole machine, begins anew.
#pragma once

#include <cstdint>
#include <string_view>

#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

/// A reset of one GPU: instances and processes are gone, a pending mode is there, a lost GPU is back. Injected faults
/// stay. Whoever calls it decides whether a GPU in use may be reset.
void reset_gpu(GpuRecord& gpu);

/// A reboot: every GPU is reset, the mode of a model that forgets it is off, energy counts from 0.
void reboot(MachineRecord& machine, std::string_view boot_id, std::int64_t now_us);

}  // namespace berth::nvml_sim
