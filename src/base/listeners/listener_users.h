/// The users whose processes listen at a port of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::edges {

/// Of every socket that takes connections to 127.0.0.1:PORT or [::1]:PORT, the user who made it: one entry per socket,
/// so none if nobody listens. Users are numbers as this process sees them. Error (kUnavailable): /proc/net cannot be
/// read. O(TCP sockets of the machine).
[[nodiscard]] Result<std::vector<std::int64_t>> listener_users(int port);

/// The same, of the text of /proc/net/tcp or /proc/net/tcp6; lines that are no sockets are skipped.
[[nodiscard]] std::vector<std::int64_t> listener_users_in(std::string_view table, int port);

}  // namespace berth::edges
