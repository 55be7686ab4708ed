/// Runs `berth hands` until it is asked to stop.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/gpu_library.h"
#include "gpu/device/managed_gpu.h"
#include "surface/cli/hands/hands_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The exit status of `berth hands` if the process has no privilege to change GPUs.
inline constexpr int kStatusNoPrivilege = 4;

/// Returns the exit status. With a socket, it prints "ready PATH" when clients can connect, and runs until SIGTERM or
/// SIGINT; with a descriptor, until its client disconnects. Messages go to `err`.
[[nodiscard]] int run_hands(const HandsRequest& request, VerbContext& context);

/// A message for each managed GPU that is not in this machine: where it is configured (`places`, one for each), what
/// was wanted and found. None if the UUID of a listed GPU cannot be read, such as a lost one's: it may be the missing
/// GPU.
[[nodiscard]] std::vector<std::string> find_absent(const std::vector<device::ManagedGpu>& managed,
                                                   const std::vector<std::string>& places,
                                                   const std::vector<GpuLibrary::Listed>& listed);

}  // namespace berth::cli
