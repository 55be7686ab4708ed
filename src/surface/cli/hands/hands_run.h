/// Runs `berth hands` until it is told to stop.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/gpu_library.h"
#include "gpu/device/managed_gpu.h"
#include "surface/cli/hands/hands_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The status of `berth hands` where the process has no privilege to change GPUs.
inline constexpr int kStatusNoPrivilege = 4;

/// The exit status. With a socket it prints "ready PATH" when clients can connect, and runs until SIGTERM or SIGINT;
/// with a descriptor until its client is gone. Messages go to `err`.
[[nodiscard]] int run_hands(const HandsRequest& request, VerbContext& context);

/// The managed GPUs that are not in this machine, as a message each: where (`places` has it of each), wanted, found.
/// None while a GPU is there whose UUID cannot be read, as a lost one's: it may be the one.
[[nodiscard]] std::vector<std::string> find_absent(const std::vector<device::ManagedGpu>& managed,
                                                   const std::vector<std::string>& places,
                                                   const std::vector<GpuLibrary::Listed>& listed);

}  // namespace berth::cli
