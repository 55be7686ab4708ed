/// The interface to an HTTP client: single requests, and streams that are read line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/http_message.h"

namespace berth {

/// A request that a connection begins with, and which answer is the right one.
struct HttpPeerQuestion {
  std::string path;  ///< asked with HEAD
  std::vector<HttpField> headers;
  /// Whether the headers of the answer are those of the expected server.
  std::function<bool(const std::vector<HttpField>& headers)> is_right;
};

/// Who has to be at the other end of a connection before anything of a call is sent over it.
struct HttpPeerCheck {
  std::string identity;  ///< connections are used again for calls of the same identity only
  /// The user whose process listens, on this machine. Absent: any.
  std::optional<std::int64_t> user = std::nullopt;
  /// The question for a new connection, whose side of the client has this address ("127.0.0.1:40000"). Empty: none.
  std::function<HttpPeerQuestion(const std::string& client)> ask = {};
};

/// A request to send.
struct HttpCall {
  std::string method = "GET";
  std::string url;  ///< http or https
  std::vector<HttpField> headers;
  std::string body;                                ///< sent if it is not empty, or if the method is PUT or POST
  Micros timeout = Micros::seconds(30);            ///< for the whole request; of a stream, until its headers are there
  std::size_t bytes_max = std::size_t{16} << 20U;  ///< of the reply's body
  /// Of `send`: true ends the request; called several times per second. May be empty.
  std::function<bool()> is_stopped = {};
  /// Of `HttpStreamClient`: sent instead of `body` if it is not null, so that a large one is not copied.
  std::shared_ptr<const std::string> shared_body = nullptr;
  std::shared_ptr<const HttpPeerCheck> peer =
      nullptr;  ///< of `HttpStreamClient`: null, or for a URL http://127.0.0.1:PORT
};

/// The server's answer; any status is an answer, including 4xx, 5xx and redirections.
struct HttpReply {
  int status = 0;
  std::vector<HttpField> headers;
  std::string body;
};

/// How a stream is read.
struct HttpLineReading {
  /// Called with each line without its terminator (LF or CR LF); false ends the reading. An unterminated last line is
  /// discarded.
  std::function<bool(std::string_view line)> take;
  /// True ends the reading; called several times per second, also while nothing arrives. May be empty.
  std::function<bool()> is_stopped = nullptr;
  Micros silence_max = Micros::seconds(60);  ///< a stream without a byte for this long times out
  std::size_t line_bytes_max = std::size_t{1} << 20U;
};

/// Errors: kInvalidInput (the URL or a header), kNoServer (refused, unreachable, unknown host), kTimedOut, kInterrupted
/// (HttpCall::is_stopped), and kUnavailable for the rest (the connection broke, the answer is too large or not HTTP).
/// Redirections are not followed.
class HttpClient {
 public:
  virtual ~HttpClient() = default;

  /// Sends the request and waits for the whole answer, at most `timeout`.
  [[nodiscard]] virtual Result<HttpReply> send(const HttpCall& call) const = 0;

  /// Reads an answer of status 200 line by line, until the server or one of `reading`'s functions ends it; the reply's
  /// body is then empty. An answer with another status is returned as by `send`.
  [[nodiscard]] virtual Result<HttpReply> read_lines(const HttpCall& call, const HttpLineReading& reading) const = 0;
};

}  // namespace berth
