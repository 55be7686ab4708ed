/// Processes by number and start time, and all that a process has started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "gpu/hands/descriptor.h"
#include "gpu/programs/program_record.h"

namespace berth::edges {

/// Number and start time of a process; nothing: there is none.
[[nodiscard]] std::optional<programs::ProcessIdentity> identity_of(pid_t pid);

/// A descriptor that becomes readable when this process ends, and that signals reach nobody else by. Closed: it has
/// ended; its number may be another process's now.
[[nodiscard]] Descriptor open_process(const programs::ProcessIdentity& identity);
[[nodiscard]] bool has_ended(const Descriptor& process);
void send_signal(const Descriptor& process, int signal);

/// All descendants of this process, parents before children; with their start times, as a number may be another
/// process's by the time that it is used. One that ends its parent becomes a child of this process, if it is a
/// subreaper (PR_SET_CHILD_SUBREAPER). O(processes of the machine).
[[nodiscard]] std::vector<programs::ProcessIdentity> descendants();

}  // namespace berth::edges
