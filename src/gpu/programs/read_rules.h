/// Reads the rules of programs from the agent's configuration file.
#pragma once

#include "base/yaml/reader.h"
#include "gpu/programs/program_rules.h"

namespace berth::programs {

/// The keys `templates`, `repositories`, `uids`, `separate_users`, `programs_state`, `simulated_devices` of the map
/// `root`. Failures are kept in its report: unknown keys, relative paths, an expression that does not compile, a
/// placeholder that is no parameter, a parameter that no argument uses, a template named `serve`, users that are
/// separated without `uids`. Whether files exist is not checked.
[[nodiscard]] ProgramRules read_rules(const yaml::Value& root);

}  // namespace berth::programs
