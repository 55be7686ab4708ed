/// An HTTP client behind the port `HttpStreamClient`: many answers at a time on one thread, by libcurl.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/core/instant.h"
#include "domain/ports/http_stream_client.h"

namespace berth::edges {

namespace detail {
class StreamLoop;
}

struct StreamClientOptions {
  Micros connect_timeout = Micros::seconds(10);
  Micros silence_max = Micros::seconds(600);  ///< an answer without a byte for so long, unless paused, times out
  /// An unused connection that is older is not used again: its server may be about to close it. Whole seconds.
  Micros kept_max = Micros::seconds(3);
};

/// Something else that the client's thread serves, such as a server whose answers depend on calls: neither then has to
/// wake a thread of the other.
struct StreamClientGuest {
  int descriptor = -1;  ///< watched until it is readable
  /// Called when it is, and after each call that has moved. Returns when to call it again at the latest; nothing: when
  /// there is a reason. It must return soon.
  std::function<std::optional<Micros>()> turn;
};

/// Connections are kept and used again. A request whose body has begun to be sent is never sent again, also if the
/// connection breaks before anything of the answer has arrived. No proxy is used.
///
/// The first object sets libcurl up for the process: make it before other threads start.
class CurlStreamClient : public HttpStreamClient {
 public:
  explicit CurlStreamClient(const StreamClientOptions& options = {});
  CurlStreamClient(const CurlStreamClient&) = delete;
  CurlStreamClient& operator=(const CurlStreamClient&) = delete;
  /// Cancels all calls, and waits for their readers' last function.
  ~CurlStreamClient() override;

  /// Requires: it has none yet. The guest must live until the client is destroyed, which gives it a last turn.
  void take_guest(StreamClientGuest guest);

  void start(HttpCall call, std::unique_ptr<HttpReplyReader> reader) override;
  void resume(HttpCallNumber number) override;
  void cancel(HttpCallNumber number) override;

 private:
  const std::unique_ptr<detail::StreamLoop> loop_;
};

}  // namespace berth::edges
