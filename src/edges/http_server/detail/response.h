/// Answers as responses of libmicrohttpd.
#pragma once

#include <microhttpd.h>

#include <memory>

#include "domain/ports/http_server.h"
#include "edges/http_server/detail/large_answers.h"
#include "edges/http_server/detail/late_body.h"
#include "edges/http_server/detail/streams.h"

namespace berth::edges::detail {

using ResponsePointer = std::unique_ptr<MHD_Response, decltype(&MHD_destroy_response)>;

/// Null if a header cannot be sent (a bad name, a line end in its value) or there is no memory.
[[nodiscard]] ResponsePointer make_response(HttpResponse response, LargeAnswers::Place place = {});

/// The same.
[[nodiscard]] ResponsePointer make_response(HttpParts parts);

/// The same; the stream belongs to the response and `hub` must outlive it.
[[nodiscard]] ResponsePointer make_response(HttpEventStream stream, StreamHub& hub, MHD_Connection& connection);

/// The same, with a body that is being written.
[[nodiscard]] ResponsePointer make_response(const HttpBodyHead& head, std::shared_ptr<LateBody> body,
                                            MHD_Connection& connection);

}  // namespace berth::edges::detail
