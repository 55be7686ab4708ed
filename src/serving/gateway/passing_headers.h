/// Which headers pass the gateway (RFC 9110, 7.6.1). All others pass unchanged and in their order.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "domain/ports/http_message.h"
#include "domain/values/endpoints.h"

namespace berth::serving {

/// A client's, without those of its connection, those that the call to the replica has itself, and all `berth-*`; with
/// the token of the replica's key and, if it says who it is, its slice and generation.
[[nodiscard]] std::vector<HttpField> headers_to_replica(std::span<const HttpField> headers, const Endpoint& replica);

/// A replica's, without those of its connection and those that the server adds itself (Content-Length, Date;
/// Content-Type is given apart) or that cannot be sent.
[[nodiscard]] std::vector<HttpField> headers_from_replica(std::span<const HttpField> headers);

/// Who gave an answer, by its headers.
enum class AnsweredBy {
  kReplica,      ///< the expected one, or one that does not say who it is
  kNotExecuted,  ///< a `berth serve` that did not carry the request out
  kAnother,      ///< another process, which may have carried it out
};
[[nodiscard]] AnsweredBy answered_by(std::span<const HttpField> headers, const Endpoint& replica);

}  // namespace berth::serving
