/// `nvidia-smi` for programs that call it on a simulated machine: the list of GPUs, and their reset. Nothing else is
/// simulated.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim_cli {

/// The output of -L: each GPU, followed by its MIG devices.
[[nodiscard]] std::string list_text(const nvml_sim::MachineRecord& machine);

/// Resets the GPUs that a list names by index, UUID or PCI address ("0,GPU-..,0000:07:00.0"; empty: all) and returns
/// the output of -r. kInvalidInput: it names an unknown GPU, or a process is on one of them; then nothing is changed.
[[nodiscard]] Result<std::string> reset_listed(nvml_sim::MachineRecord& machine, const std::string& list,
                                               std::int64_t now_us);

/// Runs it with these arguments on the machine named by the environment. Returns the exit status.
[[nodiscard]] int run_nvidia_smi(const std::vector<std::string>& words, std::FILE* out, std::FILE* err);

}  // namespace berth::nvml_sim_cli
