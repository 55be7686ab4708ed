/// Requests of `berth up` to a replica.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/http_client.h"
#include "domain/ports/http_stream_client.h"
#include "domain/values/endpoints.h"

namespace berth::edges {

struct ReplicaReading {
  Micros patience = Micros::seconds(2);             ///< for the whole answer
  std::size_t bytes_max = std::size_t{256} << 10U;  ///< of its body
  std::function<bool()> is_stopped = {};            ///< true ends it; called several times per second; may be empty
};

/// Waits for the answer to `GET path`. The request carries the token of the key, slice and generation, and is sent only
/// over a connection whose other end has proved that it is this replica. Errors: kNoServer if nobody is there, or
/// another process; kTimedOut; kInterrupted if it was stopped; kUnavailable if the answer broke off or is too
/// large.
[[nodiscard]] Result<HttpReply> get_from_replica(HttpStreamClient& client, const Endpoint& replica,
                                                 const std::string& path, const ReplicaReading& reading = {});

}  // namespace berth::edges
