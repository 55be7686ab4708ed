/// The agent's folder of programs: `programs_state` of its configuration.
#pragma once

#include <string>

#include "base/core/result.h"
#include "gpu/hands/descriptor.h"
#include "gpu/programs/program_rules.h"
#include "gpu/programs/tenant_uids.h"

namespace berth::edges {

/// Its folders, and the file of the tenants' uids.
[[nodiscard]] std::string programs_folder(const programs::ProgramRules& rules);
[[nodiscard]] std::string removed_folder(const programs::ProgramRules& rules);
[[nodiscard]] std::string uids_path(const programs::ProgramRules& rules);

/// Makes what is missing. Error: it cannot be made, or others may change it.
[[nodiscard]] Result<void> prepare_state(const programs::ProgramRules& rules);
/// The folder of one program, which the program's user may pass through, to its home.
[[nodiscard]] Result<void> make_program_folder(const std::string& folder);
[[nodiscard]] Result<programs::TenantUids> read_uids_file(const programs::ProgramRules& rules);
/// Error (kUnavailable): another agent has it.
[[nodiscard]] Result<Descriptor> lock_state(const programs::ProgramRules& rules);

/// The last lines of a program's log since its latest start.
[[nodiscard]] std::string lines_of_start(const std::string& folder);
/// The current boot, or nothing: programs of another one are gone.
[[nodiscard]] std::string boot_id();

}  // namespace berth::edges
