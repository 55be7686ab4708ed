/// The machine that a model is measured on.
#pragma once

#include <string>

#include "domain/values/profile_run.h"
#include "edges/profile_workers/profile_workers.h"

namespace berth::profiler {

/// Of a process that has loaded a model. What the system does not say is empty or 0.
[[nodiscard]] ProfilingMachine machine_of(const edges::LoadedWorker& worker);

/// The machine that asks a server: its own processor says nothing of where the model runs.
[[nodiscard]] ProfilingMachine machine_of_server(const std::string& device, const std::string& engine);

}  // namespace berth::profiler
