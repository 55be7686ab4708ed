/// Reads a scenario file and the files that it names. The format of the file: docs/reference/scenario.md.
#pragma once

#include <string>

#include "base/core/result.h"
#include "base/core/warned.h"
#include "domain/ports/files.h"
#include "domain/values/scenario.h"

namespace berth::scenario {

struct LoadOptions {
  /// Whether `fleet: []` and `services: []` are accepted: GPUs and services may be added while the world runs.
  bool allows_empty = false;
};

/// The scenario in the file `path`; its traces and profiles are read through `files`, with paths relative to the
/// scenario file. Every field is checked, so that the result keeps the invariants of domain/values/scenario.h. The
/// error is one message: file, line and column (rows) or key path (YAML), what was wanted, what was found.
/// `Scenario::name` is `path` as given.
[[nodiscard]] Result<Scenario> load_scenario(const std::string& path, const Files& files,
                                             const LoadOptions& options = {});

/// The same, with a warning for each profile file with rows whose columns contradict each other
/// (domain/profile/contradiction.h), and for each GPU name that stands for several boards (mig::gpu_name_remark).
[[nodiscard]] Result<Warned<Scenario>> load_scenario_with_warnings(const std::string& path, const Files& files,
                                                                   const LoadOptions& options = {});

}  // namespace berth::scenario
