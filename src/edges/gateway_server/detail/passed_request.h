/// One request under way between a client and a service.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/ports/http_server.h"
#include "domain/ports/http_stream_client.h"
#include "serving/gateway/gateway_order.h"

namespace berth::edges::detail {

struct PassedRequest {
  // Fixed once it has arrived.
  std::string method;
  std::string rest;  ///< of the target, for the replica
  std::vector<HttpField> headers;
  std::shared_ptr<const std::string> body;  ///< never null
  bool is_head = false;
  serving::GatewayRequestId id = 0;

  // Whoever sets the latter of both cancels the call.
  std::atomic<HttpCallNumber> call = 0;  ///< 0: not started
  std::atomic<bool> is_cancelled = false;

  // Under the lock of the gateway.
  bool is_gone = false;               ///< its client has left
  bool has_begun = false;             ///< its answer
  Instant end_by = Instant::never();  ///< of an answer that has begun

  /// Until the answer has begun, under the lock; then only for the thread of the call.
  std::unique_ptr<HttpLateReply> reply;
};

}  // namespace berth::edges::detail
