/// The interface to an HTTP client: single requests, and streams that are read line by line.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/http_message.h"

namespace berth {

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
