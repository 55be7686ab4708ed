/// What a gateway is to do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/core/instant.h"
#include "domain/values/endpoints.h"

namespace berth::serving {

/// Names a request of one gateway, in the order of arrival.
using GatewayRequestId = std::uint64_t;

/// Send the request there.
struct GatewaySend {
  GatewayRequestId request = 0;
  std::shared_ptr<const Endpoint> replica;  ///< never null
};

/// Answer it with an error. The gateway knows it no longer.
struct GatewayRefuse {
  GatewayRequestId request = 0;
  int status = 503;
  std::string message;
  std::optional<Micros> retry_after = std::nullopt;
};

/// Stop its call. The gateway knows it no longer.
struct GatewayCancel {
  GatewayRequestId request = 0;
};

using GatewayOrder = std::variant<GatewaySend, GatewayRefuse, GatewayCancel>;

/// How a call to a replica ended.
enum class GatewayEnd {
  kAnswered,      ///< completely
  kRefused,       ///< completely, with 429, 502 or 503
  kNotSent,       ///< no connection, or the replica refused to execute it
  kNoAnswer,      ///< sent, and no byte of an answer came
  kWrongReplica,  ///< answered by a process that is not that replica: nothing of it was passed on
  kBroken,        ///< the answer began and broke
};

}  // namespace berth::serving
