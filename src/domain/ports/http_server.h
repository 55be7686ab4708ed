/// The interface to an HTTP server: the input and output of a handler, and the server's functions for the rest of the
/// program. The handler does not depend on an HTTP library, and the server does not depend on paths or body formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/ports/http_message.h"

namespace berth {

/// A complete request, checked by the server: the target is well formed, its texts are UTF-8 without NUL.
struct HttpRequest {
  std::string method;  ///< "GET" for HEAD, too: the server omits the body of the answer
  /// The decoded segments between the slashes: "/a%2Fb/c" is {"a/b", "c"}, "/" is {}, "/a/" is {"a", ""}. "." and ".."
  /// are ordinary segments.
  std::vector<std::string> path;
  std::vector<HttpField> query;    ///< decoded, in the order of the target, with repeated names
  std::vector<HttpField> headers;  ///< as received and in that order; see find_header
  std::string body;
  std::string peer;         ///< address and port of the client: "127.0.0.1:40000", "[::1]:40000"
  bool is_head = false;     ///< it was HEAD
  std::string target = {};  ///< as received, of which `path` and `query` were decoded
};

/// An answer that is complete now. The server adds Content-Length, Date and the connection's headers.
struct HttpResponse {
  int status = 200;
  std::string content_type;  ///< empty: no such header
  std::vector<HttpField> headers;
  std::string body;
};

/// An answer of status 200 whose body is produced in parts, so that a client that does not read holds only one part in
/// memory.
struct HttpParts {
  std::string content_type;
  std::vector<HttpField> headers;
  std::uint64_t bytes = 0;  ///< of all parts together
  /// The next part. An empty part is a failure and closes the connection. Called on a server thread, never
  /// concurrently, once the client has taken all earlier parts, while bytes are missing and the client is connected. It
  /// must return soon. An exception counts as an empty part.
  std::function<std::string()> next;
};

/// A piece of a stream of server-sent events.
struct HttpStreamPiece {
  std::string text;      ///< whole events, each with its empty line; empty: nothing to send now
  bool is_last = false;  ///< the stream ends after the text
};

/// The events of one open stream. The server asks for the next piece when the client has taken the last one, so a slow
/// client holds one piece and no thread; the source decides how far it may fall behind.
class HttpEventSource {
 public:
  virtual ~HttpEventSource() = default;

  /// The next piece. Called on a server thread, never concurrently for one source: after the headers are sent, after
  /// each piece, and after each HttpServer::wake_streams. It must not wait.
  [[nodiscard]] virtual HttpStreamPiece next() = 0;
};

/// An answer of status 200 that stays open. The server sends a comment line when the stream has been silent for a
/// while.
struct HttpEventStream {
  std::vector<HttpField> headers;
  std::unique_ptr<HttpEventSource> source;  ///< never null; destroyed when the connection ends
};

/// The head of an answer whose body any thread writes while it is sent.
struct HttpBodyHead {
  int status = 200;
  std::string content_type = {};  ///< empty: no such header
  std::vector<HttpField> headers = {};
  std::optional<std::uint64_t> bytes = std::nullopt;  ///< of the whole body; nothing: it is sent in chunks
  std::string first = {};                             ///< bytes of the body that are there already
};

/// What becomes of the bytes written to a body.
enum class HttpBodyFlow {
  kGoesOn,  ///< they are sent
  kFull,    ///< they are sent, but so much waits for the client that nothing more should be written before `on_room`
  kGone,    ///< they are discarded: the client is gone, or the server has stopped
};

/// The handler's end of a body that is written while it is sent. It may outlive the connection and the server. If it is
/// destroyed before `end`, the connection is closed after what was written, without the mark of a complete body.
class HttpBodyWriter {
 public:
  virtual ~HttpBodyWriter() = default;

  /// Sends the bytes at once, without waiting for the client. Any thread may call it, but not two at a time.
  virtual HttpBodyFlow write(std::string_view bytes) = 0;
  /// The body is complete; only the first call counts.
  virtual void end() = 0;
};

/// The handler's end of an answer that is given later. It may outlive the connection and the server. If it is destroyed
/// before `send` and `begin`, the server answers with the refusal kHandlerFailed. Any thread may call its functions,
/// even before `start` has returned, but not two threads at a time; none waits for the client.
class HttpLateReply {
 public:
  virtual ~HttpLateReply() = default;

  /// Sends the answer; a server thread writes it. Does nothing if the client is gone, the server has stopped, or an
  /// answer was given before.
  virtual void send(HttpResponse response) = 0;

  /// Sends the head of an answer whose body is written through the result. `on_room` is called by a server thread each
  /// time that less than half of what may wait is left after a kFull; it must return soon. Requires: no answer was
  /// given before. Null only if this kind of reply has no such answers.
  // NOLINTBEGIN(performance-unnecessary-value-param): implementations keep what they are given
  [[nodiscard]] virtual std::unique_ptr<HttpBodyWriter> begin(HttpBodyHead /*head*/,
                                                              std::function<void()> /*on_room*/) {
    return nullptr;
  }

  /// From now on the client is watched: `gone` is called once within 0.2 s after it has left or the server has stopped,
  /// unless the answer was complete by then (sent, or its body ended). A client that only ends its side counts as one
  /// that has left, and its connection is closed. `gone` runs on a thread of the server or the caller's, perhaps still
  /// just after the answer became complete; it must return soon, and not stop the server.
  virtual void on_gone(std::function<void()> /*gone*/) {}
  // NOLINTEND(performance-unnecessary-value-param)
};

/// An answer that is given later, by any thread: until then it holds its connection, but no thread of the server. The
/// connection is not timed out. Unless the reply watches it, a client that disconnects meanwhile is only noticed when
/// the answer is sent, so every reply must be sent or destroyed soon. Later requests of the connection wait for the
/// answer.
struct HttpLater {
  /// Called once, on the server thread that called the handler, after that call; the request may be gone when the reply
  /// is sent. It must return soon, too. An exception is answered by a refusal, and the reply is then ignored.
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
  kTooManyLargeBodies,   ///< 503: too many are being received or handled already
  kTooManyLargeAnswers,  ///< 503: clients have not taken the earlier ones yet
};

struct HttpRefusal {
  HttpFault fault = HttpFault::kHandlerFailed;
  int status = 500;
  std::string message;  ///< what was wanted and what was found
  /// The request as far as it was read, while `render` runs; null: nothing of it is known.
  const HttpRequest* request = nullptr;
};

/// The program's side of a server. Its functions run on the server's threads, concurrently if there are several. They
/// must return soon, because other requests of that thread wait for them; slow answers are given later (HttpLater). An
/// exception is answered by a refusal.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  [[nodiscard]] virtual HttpAnswer answer(const HttpRequest& request) = 0;
  /// What the server calls: the same, for a handler that takes body and headers out of the request.
  [[nodiscard]] virtual HttpAnswer answer_taking(HttpRequest& request) { return answer(request); }

  /// Among whom the server's places for large bodies are shared: whoever has as many as are free gets no more. Called
  /// once the headers have arrived. Empty: of nobody, without such a share.
  [[nodiscard]] virtual std::string share_of(const HttpRequest& /*request*/) { return {}; }

  /// The largest body accepted for a request whose headers have arrived; nothing: the server's limit.
  [[nodiscard]] virtual std::optional<std::size_t> body_bytes_max(const HttpRequest& /*request*/) {
    return std::nullopt;
  }

  /// The body of an error that the server itself reports, so that all errors have one shape. Its status is replaced by
  /// that of the refusal.
  [[nodiscard]] virtual HttpResponse render(const HttpRefusal& refusal) = 0;
};

/// A running server.
class HttpServer {
 public:
  virtual ~HttpServer() = default;

  /// The port that it listens on, also if it was told to choose a free one.
  [[nodiscard]] virtual std::uint16_t port() const = 0;

  /// Makes every open stream ask its source again. Any thread may call it, even under locks that `next` takes: it only
  /// signals. A call made while a stream is asking is not lost.
  virtual void wake_streams() = 0;

  /// Ends all connections and streams, also those that wait for a later answer, and joins the threads: within a second,
  /// provided that no handler waits. Not to be called by a handler; a second call does nothing.
  virtual void stop() = 0;
};

}  // namespace berth
