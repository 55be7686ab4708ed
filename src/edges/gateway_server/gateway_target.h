/// Which service a request's target names, and what of it the service gets.
#pragma once

#include <optional>
#include <string>

#include "domain/ports/http_server.h"

namespace berth::edges {

struct GatewayTarget {
  std::string tenant;   ///< decoded
  std::string service;  ///< decoded
  std::string rest;     ///< for the replica, as received: "/v2/models?a=b"; begins with a slash
};

/// "/TENANT/SERVICE/REST". Nothing if there are not two segments that are not empty.
[[nodiscard]] std::optional<GatewayTarget> gateway_target(const HttpRequest& request);

}  // namespace berth::edges
