/// The state file of a simulated machine, with what stands next to it: the boot id, as the kernel would show it, and a
/// folder for locks of GPUs, which programs that share the machine use.
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

/// Microseconds since 1970: the time by which the library counts, too.
[[nodiscard]] std::int64_t now_us();

/// A boot id that no machine had before. kUnavailable.
[[nodiscard]] Result<std::string> fresh_boot_id();

/// Boots the machine into a new state at this path, or joins the one that is there if it has the same fleet: then
/// `machine`'s latencies, faults and modes count for nothing. kInvalidInput: another fleet, or no state; kNotFound: no
/// folder for it.
[[nodiscard]] Result<void> boot_or_join(const std::string& state, nvml_sim::MachineRecord& machine);

/// Every GPU is reset, with a new boot id.
[[nodiscard]] Result<void> reboot(edges::SimStateFile& file);

}  // namespace berth::nvml_sim_cli
