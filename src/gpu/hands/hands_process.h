/// A GPU agent that this process starts for itself.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "gpu/hands/descriptor.h"

namespace berth::edges {

/// A process that serves the other end of the socket.
struct HandsProcess {
  Descriptor socket;
  pid_t pid = 0;
};

/// Executes `program` with these arguments and "--fd N", where N is its end of a new connection. It inherits standard
/// streams and environment, but no other descriptor and no blocked signal, and leads its own process group, so that an
/// interrupt from the terminal does not end it in the middle of a change. Requires: no other thread exists. Error
/// (kUnavailable): no socket, or no process.
[[nodiscard]] Result<HandsProcess> start_hands(const std::string& program, std::vector<std::string> arguments);

/// How the process ended: "the hands ended (signal 9)". Waits at most `at_most` for it.
[[nodiscard]] std::string how_it_ended(pid_t pid, std::chrono::milliseconds at_most);

}  // namespace berth::edges
