/// The traces of NVIDIA GPUs on a machine outside their library: the loaded module, the PCI devices, the boot id. A
/// private mount namespace puts our files in place of the kernel's.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim_cli {

/// The files of a machine, in one of our folders.
struct FakeRoot {
  std::string folder;   ///< has `modules`, `bus/pci/devices/`, `drivers/nvidia/`
  std::string boot_id;  ///< the file with the boot id, which a reboot rewrites
};

/// Writes the files into `folder`, which exists. Error: kUnavailable.
[[nodiscard]] Result<void> write_fake_root(const FakeRoot& root, const nvml_sim::MachineRecord& machine);

/// To be called in the child before it executes the program. Enters a mount namespace with the files in their places,
/// as root or, if the kernel allows it to other users, in a user namespace in which they are root. Returns the
/// descriptor of `watch_openings` if the kernel has no module list. kInvalidInput: not allowed here, with the reason.
/// Requires: one thread.
[[nodiscard]] Result<std::optional<int>> enter_fake_root(const FakeRoot& root);

/// The file that stands in for the kernel's list of modules.
[[nodiscard]] std::string module_list_of(const FakeRoot& root);

}  // namespace berth::nvml_sim_cli
