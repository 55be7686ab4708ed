/// Errors as gRPC reports them.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <optional>
#include <string>

#include "serving/service/inference.h"

namespace berth::edges {

/// Of a message to a client: a longer one would not fit into the trailing metadata that clients accept.
inline constexpr std::size_t kStatusBytesMax = 1000;

[[nodiscard]] grpc::StatusCode status_code(serving::ServeFault fault);
/// With at most kStatusBytesMax of the message.
[[nodiscard]] grpc::Status status_of(const serving::ServeError& error);
/// The value of `retry-after-ms`, rounded up.
[[nodiscard]] std::optional<std::string> retry_after_ms(const serving::ServeError& error);

}  // namespace berth::edges
