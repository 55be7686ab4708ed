/// A GPU agent that this process starts for itself.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "gpu/hands/descriptor.h"

namespace berth::edges {

/// A process that serves the other end of the socket.
struct HandsProcess {
  Descriptor socket;
  pid_t pid = 0;  ///< 0: not known
  /// To the standby of this agent (restart_hands). Closed: there is none.
  Descriptor standby = {};
};

/// Executes `program` with these arguments and "--fd N", where N is its end of a new connection. It inherits standard
/// streams and environment, but no other descriptor and no blocked signal, and leads its own process group, so that an
/// interrupt from the terminal does not end it in the middle of a change. Requires: no other thread exists. Error
/// (kUnavailable): no socket, or no process.
///
/// Starting an agent takes privileges, which the caller gives up. So each agent has a standby: a child that waits with
/// the agent's privileges, and executes the same program with the same arguments when restart_hands asks for it. When
/// its agent ends, the standby becomes a child of the caller, which is made the reaper of its descendants. It does
/// nothing else, and ends when the caller ends.
[[nodiscard]] Result<HandsProcess> start_hands(const std::string& program, std::vector<std::string> arguments);

/// Turns the standby into the next agent, which leaves another standby behind at the same `standby`. Never waits. At
/// least half a second passes between two of them. Error (kUnavailable): the standby has ended, or no socket.
[[nodiscard]] Result<HandsProcess> restart_hands(const Descriptor& standby);

/// The keepers of an agent that was killed (gpu/program_runner) are this process's children from then on, as it is
/// their reaper: takes the status of those that have ended, so that the kernel forgets them.
void reap_keepers();

/// How the process ended: "the GPU agent ended (signal 9)"; nothing: it has not within `at_most`.
[[nodiscard]] std::optional<std::string> how_it_ended(pid_t pid, std::chrono::milliseconds at_most);

}  // namespace berth::edges
