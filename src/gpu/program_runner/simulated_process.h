/// Programs of a simulated machine appear on its devices, so that a slice in use cannot be destroyed there either.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/core/result.h"

namespace berth::edges {

/// Puts a process on a GPU without MIG mode or on a MIG device, as `berth-nvml-sim process add` does. `state` is the
/// file of the machine. Error: no such machine or device, or no place for another process.
[[nodiscard]] Result<void> list_simulated_process(const std::string& state, const std::string& uuid, pid_t pid);
/// Takes it away from wherever it is. Nothing happens if it is nowhere.
void unlist_simulated_process(const std::string& state, pid_t pid);

}  // namespace berth::edges
