/// /proc/modules for programs on a kernel that has none (built without loadable modules): nothing can be mounted on a
/// file that does not exist, so we intercept attempts to open it and pass in our own file.
///
/// The kernel asks us about each opening of a file for reading (a filter with user notification, seccomp_unotify(2));
/// all others continue unchanged.
#pragma once

#include <string>

#include "base/core/result.h"

namespace berth::nvml_sim_cli {

inline constexpr const char* kModuleListPath = "/proc/modules";

/// To be called in the child before it executes the program. From now on its calls to open files are reported at the
/// returned descriptor, and block until the parent serves it. kInvalidInput: the kernel does not allow it.
[[nodiscard]] Result<int> watch_openings();

/// Answers one question at the descriptor: the module list is the file at `path`.
void serve_opening(int descriptor, const std::string& path);

}  // namespace berth::nvml_sim_cli
