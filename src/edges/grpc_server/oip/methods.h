/// The calls that the server offers.
#pragma once

#include <string_view>

#include "edges/grpc_server/oip/call.h"

namespace berth::edges {

inline constexpr std::string_view kWatchPath = "/grpc.health.v1.Health/Watch";

struct Method {
  std::string_view path;
  CallHandler handler;
  bool is_health = false;  ///< health checks need no key
  bool is_infer = false;   ///< requests for inference, which are traced
};

/// Null if the server does not offer it. Without kWatchPath, which is a stream.
[[nodiscard]] const Method* find_method(std::string_view path);

}  // namespace berth::edges
