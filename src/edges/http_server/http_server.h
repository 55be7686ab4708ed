/// An HTTP/1.1 server behind the port `HttpServer`. Only this folder uses libmicrohttpd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/http_server.h"
#include "domain/ports/turned_http_server.h"

namespace berth::edges {

/// How many connections a thread of the server can reliably serve; see http_server.cc. A `TurnedHttpServer` has no such
/// limit.
inline constexpr unsigned kHttpThreadConnectionCountMax = 100;

struct HttpServerOptions {
  std::string host = "127.0.0.1";                      ///< a name or an address; the first address of a name is used
  std::uint16_t port = 0;                              ///< 0: any free one, see HttpServer::port
  std::size_t body_bytes_max = std::size_t{1} << 20U;  ///< unless the handler allows more
  unsigned large_body_count_max = 4;  ///< concurrent requests with larger bodies, until they are answered
  std::size_t large_answer_bytes_min = std::size_t{1} << 20U;  ///< a larger answer is large; HttpParts never are
  /// Of all large answers not yet read by their clients; a single one may have more.
  std::size_t large_answer_bytes_max = std::size_t{256} << 20U;
  std::size_t target_bytes_max = std::size_t{8} << 10U;
  std::size_t header_bytes_max = std::size_t{16} << 10U;  ///< of the target and all headers; 100 headers at most
  /// Includes streams and clients that wait for a deferred answer. At most kHttpThreadConnectionCountMax per thread are
  /// used.
  unsigned connection_count_max = 256;
  /// Maximum time without a byte moved, not counting the wait for a deferred answer; rounded up to whole seconds.
  Micros idle_timeout = Micros::seconds(60);
  /// Maximum time from the begin of a connection, or its last answer, to a whole request; also the longest of an unused
  /// connection. Absent: none but `idle_timeout`. Where 7 of 8 connections are in use, those that have waited longest
  /// for a request are closed for new ones.
  std::optional<Micros> request_timeout = std::nullopt;
  Micros comment_interval = Micros::seconds(15);  ///< of a stream, between comment lines
  unsigned thread_count = 1;                      ///< threads that call the handler
};

/// Starts a server. The handler is borrowed and must outlive it; its functions run on `thread_count` threads of the
/// server, one more thread sends the comments of streams.
///
/// HttpFault lists the requests that the server refuses itself, with a body rendered by the handler. A Content-Length
/// that is too large is answered at once, and the connection closed; up to 16 times the limit of the body is still read
/// and discarded (up to twice the limit if the handler allowed a larger one), so that its sender gets to read the
/// answer. As much is read of a body in chunks before its answer. Requests that break the framing of HTTP itself (a
/// header line without a colon, a chunk whose length is not a number, a version other than 1.x, headers of more than
/// three times the limit) are answered by libmicrohttpd, with a status of 400, 413, 414, 431 or 505 and its own short
/// page, and the connection is closed.
///
/// Errors: kInvalidInput for an unknown host, kUnavailable if the address is in use or not permitted; the message
/// begins with "HOST:PORT". Requires: positive limits, times and thread count.
[[nodiscard]] Result<std::unique_ptr<HttpServer>> start_http_server(const HttpServerOptions& options,
                                                                    HttpHandler& handler);

/// As `start_http_server`, without `thread_count` and its limit on connections.
[[nodiscard]] Result<std::unique_ptr<TurnedHttpServer>> start_turned_http_server(const HttpServerOptions& options,
                                                                                 HttpHandler& handler);

}  // namespace berth::edges
