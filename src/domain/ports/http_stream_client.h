/// The interface to an HTTP client whose answers are read while they arrive, many at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/http_client.h"
#include "domain/ports/http_message.h"

namespace berth {

/// Names a call of one client; no two are alike.
using HttpCallNumber = std::uint64_t;

/// What comes before the body of an answer. Any status is an answer, including 4xx, 5xx and redirections.
struct HttpReplyHead {
  int status = 0;
  std::vector<HttpField> headers;
};

/// What a reader wants after a part of the body.
enum class HttpReading {
  kGoesOn,
  kPaused,  ///< nothing more until `resume`: the server is slowed down
};

/// Takes one answer. Its functions are called on one thread of the client, in this order, and must return soon, because
/// other answers wait. They may call the client.
class HttpReplyReader {
 public:
  virtual ~HttpReplyReader() = default;

  /// Called before anything is sent.
  virtual void on_start(HttpCallNumber /*number*/) {}
  /// Called at most once; not for answers of status 1xx.
  virtual void on_head(HttpReplyHead head) = 0;
  /// Called for each part of the body as it arrives.
  [[nodiscard]] virtual HttpReading on_bytes(std::string_view bytes) = 0;
  /// Called once, as the last function: nothing, if the answer is complete. Errors: kInterrupted if it was cancelled,
  /// the others as HttpClient. An answer without a length that is not chunked is complete when its connection ends.
  virtual void on_end(Result<void> outcome) = 0;
};

/// Any thread may call its functions; none waits.
class HttpStreamClient {
 public:
  virtual ~HttpStreamClient() = default;

  /// Sends the request, once. Of the call `timeout` is the time until the head of the answer, and `bytes_max` does not
  /// count. With a peer that must be checked: kNoServer, before anything is sent, if another process is there.
  virtual void start(HttpCall call, std::unique_ptr<HttpReplyReader> reader) = 0;
  /// Goes on with a call that was paused. Does nothing for one that has ended.
  virtual void resume(HttpCallNumber number) = 0;
  /// Closes the connection of a call. Does nothing for one that has ended.
  virtual void cancel(HttpCallNumber number) = 0;
};

}  // namespace berth
