/// Everything that one start of a program needs, on the disk.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/core/result.h"
#include "gpu/programs/program_record.h"
#include "gpu/programs/program_rules.h"

namespace berth::edges {

struct StartPlace {
  const programs::ProgramRules& rules;
  bool is_simulated = false;  ///< the machine
  const std::string& folder;  ///< of the program
};

/// The record of the next start: a free port, a new key, the command, the environment; its model and device file are in
/// the folder. `record` has the order and the user. Error: the order is against the rules, or a file is missing.
[[nodiscard]] Result<programs::ProgramRecord> prepare_start(programs::ProgramRecord record, const StartPlace& place);

/// Executes `program` as the keeper of this folder, with nothing of this process but its privileges. Error: no process.
[[nodiscard]] Result<pid_t> spawn_keeper(const std::string& program, const std::string& folder,
                                         std::int64_t start_number, const std::optional<std::string>& simulated_state);

}  // namespace berth::edges
