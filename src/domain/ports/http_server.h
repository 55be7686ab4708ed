/// The interface to an HTTP server: what a handler gets and returns, and what the rest of the program may ask of the
/// server. The handler knows no library of HTTP, and the server knows no path and no format of bodies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/ports/http_message.h"

namespace berth {

/// A complete request, checked by the server: the target is well formed, its texts are UTF-8 without NUL.
struct HttpRequest {
  std::string method;  ///< "GET" for HEAD too: the server leaves out the body of the answer
  /// The decoded segments between the slashes: "/a%2Fb/c" is {"a/b", "c"}, "/" is {}, "/a/" is {"a", ""}. "." and ".."
  /// are ordinary segments.
  std::vector<std::string> path;
  std::vector<HttpField> query;    ///< decoded, in the order of the target, repeated names too
  std::vector<HttpField> headers;  ///< as received and in that order; see find_header
  std::string body;
  std::string peer;  ///< address and port of the client: "127.0.0.1:40000", "[::1]:40000"
};

/// An answer that is complete now. The server adds Content-Length, Date and what the connection needs.
struct HttpResponse {
  int status = 200;
  std::string content_type;  ///< empty: no such header
  std::vector<HttpField> headers;
  std::string body;
};

/// An answer of status 200 whose body comes part by part, so that a client that does not read holds one part of it.
struct HttpParts {
  std::string content_type;
  std::vector<HttpField> headers;
  std::uint64_t bytes = 0;  ///< of all parts together
  /// The next part; empty: there is none, although there should be, and the connection is closed. Called on a thread of
  /// the server, never twice at a time, when the client has taken all parts before, and only as long as bytes are
  /// missing and the client is there. It must return soon. An exception is an empty part.
  std::function<std::string()> next;
};

/// A piece of a stream of server-sent events.
struct HttpStreamPiece {
  std::string text;      ///< whole events, each with its empty line; empty: nothing to send now
  bool is_last = false;  ///< the stream ends after the text
};

/// The events of one open stream. The server asks for the next piece when the client has taken the last one, so a slow
/// client holds one piece and no thread; how far it may fall behind is the source's decision.
class HttpEventSource {
 public:
  virtual ~HttpEventSource() = default;

  /// What to send next. Called on a thread of the server, never twice at a time for one source: after the headers are
  /// sent, after each piece, and after each HttpServer::wake_streams. It must not wait.
  [[nodiscard]] virtual HttpStreamPiece next() = 0;
};

/// An answer of status 200 that stays open. The server sends a comment line when the stream was silent for a while.
struct HttpEventStream {
  std::vector<HttpField> headers;
  std::unique_ptr<HttpEventSource> source;  ///< never null; destroyed when the connection ends
};

/// The handler's end of an answer that is given later. It may outlive the connection and the server. Destroyed unsent,
/// it makes the server answer with the refusal kHandlerFailed.
class HttpLateReply {
 public:
  virtual ~HttpLateReply() = default;

  /// Gives the answer; a thread of the server writes it. Any thread may call it, also before `start` has returned, but
  /// not two at a time. It never waits for the client. Does nothing if the client has gone or the server has stopped,
  /// and from the second call on.
  virtual void send(HttpResponse response) = 0;
};

/// An answer that is given later, by any thread: until then it holds its connection, but no thread of the server. The
/// connection is not timed out, and a client that goes meanwhile is only noticed when the answer is given, so every
/// reply must be sent or destroyed before long. Later requests of the connection wait for the answer.
struct HttpLater {
  /// Called once, on the thread of the server that called the handler and after that call; the request may be gone
  /// when the reply is sent. It must return soon, too. An exception is answered by a refusal, whatever the reply does
  /// then.
  std::function<void(std::unique_ptr<HttpLateReply> reply)> start;
};

using HttpAnswer = std::variant<HttpResponse, HttpParts, HttpEventStream, HttpLater>;

/// Why the server answers a request itself, without the handler.
enum class HttpFault {
  kMalformedTarget,      ///< 400: bad percent-encoding, bad UTF-8, bad query
  kMalformedHeaders,     ///< 400: bad names or values, no Host, contradictory lengths of the body
  kBodyTooLarge,         ///< 413
  kTargetTooLong,        ///< 414
  kHeadersTooLarge,      ///< 431
  kHandlerFailed,        ///< 500: the handler threw, did not give its later answer, or its answer cannot be sent
  kTooManyConnections,   ///< 503, and the connection is closed
  kTooManyLargeBodies,   ///< 503: so many are being received or handled already
  kTooManyLargeAnswers,  ///< 503: clients have not taken those before
};

struct HttpRefusal {
  HttpFault fault = HttpFault::kHandlerFailed;
  int status = 500;
  std::string message;  ///< what was wanted and what was found
};

/// The program's side of a server. Its functions run on the threads of the server: with one thread never two at a
/// time, with several at the same time. They must return soon, as other requests of that thread wait for them; what
/// takes longer is answered later (HttpLater). An exception is answered by a refusal.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  [[nodiscard]] virtual HttpAnswer answer(const HttpRequest& request) = 0;

  /// How large the body of a request may be, of which only the body is not there yet; nothing: as large as any.
  [[nodiscard]] virtual std::optional<std::size_t> body_bytes_max(const HttpRequest& /*request*/) {
    return std::nullopt;
  }

  /// The body of an error that the server itself reports, so that all errors have one shape. Its status is replaced
  /// by the refusal's.
  [[nodiscard]] virtual HttpResponse render(const HttpRefusal& refusal) = 0;
};

/// A running server.
class HttpServer {
 public:
  virtual ~HttpServer() = default;

  /// The port that it listens on, also where any free one was wanted.
  [[nodiscard]] virtual std::uint16_t port() const = 0;

  /// Every open stream asks its source again. Any thread may call it, also under locks that `next` takes: it only
  /// signals. A call that comes while a stream is asking is not lost.
  virtual void wake_streams() = 0;

  /// Ends all connections and streams, also those that wait for a later answer, and joins the threads: within a second,
  /// provided that no handler waits. Not to be called by a handler; a second call does nothing.
  virtual void stop() = 0;
};

}  // namespace berth
