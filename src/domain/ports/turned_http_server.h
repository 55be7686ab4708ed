/// The interface to an HTTP server that runs on a thread of its user.
#pragma once

#include <optional>

#include "base/core/instant.h"
#include "domain/ports/http_server.h"

namespace berth {

/// A server without threads that serve requests: one thread of the caller waits for `descriptor`, and calls `turn`.
/// What that thread has else to do, such as calls to other servers, then needs no hand-over to another one.
class TurnedHttpServer : public HttpServer {
 public:
  /// Readable when there is something to do, also when another thread gives a reply. After giving one itself, the
  /// thread that waits has to call `turn`.
  [[nodiscard]] virtual int descriptor() const = 0;
  /// Reads, calls the handler and writes what is possible now, without waiting. Returns when to call it again even if
  /// the descriptor is not readable by then; nothing: then only. Not after `stop`, which is called by the same thread,
  /// or when that one has ended.
  [[nodiscard]] virtual std::optional<Micros> turn() = 0;
};

}  // namespace berth
