/// Which headers pass a proxy (RFC 9110, 7.6.1).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/ports/http_message.h"
#include "domain/tracing/trace_context.h"

namespace berth::openai::detail {

/// A request's, without those of the connection and those that may hold a tenant's key, with the backend's key. Codings
/// of the answer are not asked for: its usage could not be read.
[[nodiscard]] std::vector<HttpField> headers_to_backend(std::span<const HttpField> headers,
                                                        const std::optional<std::string>& key);

/// Puts this context of a trace in the place of the client's.
void put_trace(std::vector<HttpField>& headers, const TraceContext& context);

/// An answer's, without those of the connection, those that the server adds itself (its Content-Type is given apart),
/// and those that cannot be sent.
[[nodiscard]] std::vector<HttpField> headers_to_client(std::span<const HttpField> headers);

}  // namespace berth::openai::detail
