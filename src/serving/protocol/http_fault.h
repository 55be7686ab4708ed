/// How errors of the server are said over HTTP.
#pragma once

#include <string>
#include <string_view>

#include "serving/service/inference.h"

namespace berth::serving::protocol {

/// 400 to 504; 499 for a client that has left, which nobody reads.
[[nodiscard]] int http_status(ServeFault fault);

/// `{"error": MESSAGE}`.
[[nodiscard]] std::string error_json(std::string_view message);

}  // namespace berth::serving::protocol
