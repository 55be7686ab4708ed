/// Measures a model file in processes of its own.
#pragma once

#include <span>
#include <string>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/values/profile_run.h"
#include "surface/cli/profile/profile_outside.h"

namespace berth::profiler {

/// The first argument of a process that runs a model under measurement (`worker_main`).
inline constexpr const char* kWorkerWord = "--profile-worker";

/// What such a process does; `arguments`: after the word. Its exit status.
[[nodiscard]] int worker_main(std::span<const std::string> arguments);

/// All of the run but its id, version and start. Errors: as ProfileOutside::measure; this program was
/// built without the headers of the engine.
[[nodiscard]] Result<ProfileRun> profile_file(const FileTree& tree, const models::ProfileRequest& request,
                                              const cli::ProfileHooks& hooks);

}  // namespace berth::profiler
