/// The state file of a simulated machine, with its companions: the boot id, as the kernel would show it, and a folder
/// for locks of GPUs, used by programs that share the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/core/result.h"
#include "gpu/nvml_sim/state.h"
#include "gpu/nvml_sim_state/state_file.h"

namespace berth::nvml_sim_cli {

/// Names of environment variables that a program on a simulated machine has.
inline constexpr const char* kStateVariable = "BERTH_NVML_SIM_STATE";
inline constexpr const char* kBootIdVariable = "BERTH_BOOT_ID";
inline constexpr const char* kLocksVariable = "BERTH_GPU_LOCKS";

[[nodiscard]] std::string boot_id_file(const std::string& state);
[[nodiscard]] std::string locks_folder(const std::string& state);

/// Microseconds since 1970, the same time base as the library's.
[[nodiscard]] std::int64_t now_us();

/// A new, unique boot id. Error: kUnavailable.
[[nodiscard]] Result<std::string> fresh_boot_id();

/// Boots the machine into a new state at this path, or joins an existing state with the same fleet; then `machine`'s
/// latencies, faults and modes are ignored. kInvalidInput: another fleet, or not a state file; kNotFound: its folder
/// does not exist.
[[nodiscard]] Result<void> boot_or_join(const std::string& state, nvml_sim::MachineRecord& machine);

/// Every GPU is reset, with a new boot id.
[[nodiscard]] Result<void> reboot(edges::SimStateFile& file);

}  // namespace berth::nvml_sim_cli
