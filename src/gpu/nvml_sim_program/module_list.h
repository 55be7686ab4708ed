/// /proc/modules for programs on a kernel that has none (built without loadable modules): nothing can be mounted on a
/// file that does not exist, so their attempts to open it come to us, and we hand them a file of ours.
///
/// The kernel asks us about each opening of a file for reading (a filter with user notification, seccomp_unotify(2));
/// all but this one go on as if we were not there.
#pragma once

#include <string>

#include "base/core/result.h"

namespace berth::nvml_sim_cli {

inline constexpr const char* kModuleListPath = "/proc/modules";

/// In the program to be: from now on its openings are asked about at the descriptor that this returns. Until somebody
/// serves it, this process can open no file. kInvalidInput: the kernel does not allow it.
[[nodiscard]] Result<int> watch_openings();

/// Answers one question at the descriptor: the module list is the file at `path`.
void serve_opening(int descriptor, const std::string& path);

}  // namespace berth::nvml_sim_cli
