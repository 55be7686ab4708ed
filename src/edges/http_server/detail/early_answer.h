/// An answer before the body of its request has arrived.
#pragma once

#include <microhttpd.h>

#include "domain/ports/http_server.h"

namespace berth::edges::detail {

/// Writes the whole answer, past libmicrohttpd, and ends sending: the client sees the end of the connection, whether it
/// reads before, while or after it sends its body. libmicrohttpd would close the connection at once, and bytes of the
/// body that arrive then make the system discard the answer. The caller reads what still comes, up to some limit, and
/// then closes the connection; libmicrohttpd does so after some seconds without a byte.
///
/// False if it could not be written as a whole: the connection has to be closed.
[[nodiscard]] bool send_early(MHD_Connection& connection, const HttpResponse& response, bool is_head);

/// Nothing more can be sent to the client.
void end_sending(MHD_Connection& connection);

}  // namespace berth::edges::detail
