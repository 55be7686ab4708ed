/// Messages over a socket between two processes of this program.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::edges::detail {

/// Whether all of it was written: no, if the other side has ended.
[[nodiscard]] bool write_frame(int socket, std::string_view bytes);

/// Waits for the next message. Errors: kUnavailable if the other side has ended; kInterrupted.
[[nodiscard]] Result<std::string> read_frame(int socket, const std::function<bool()>& is_stopped);

/// Whether a message has begun to arrive, or the other side has ended.
[[nodiscard]] bool has_frame(int socket);

}  // namespace berth::edges::detail
