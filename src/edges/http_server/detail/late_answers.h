/// Deferred answers: each waits as a suspended connection, so that it costs no thread.
#pragma once

#include <microhttpd.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "domain/ports/http_server.h"

namespace berth::edges::detail {

/// The state shared by a reply and its request, as either may end first. Only the hub changes it, under its lock; once
/// the answer is given, the request owns it.
struct LateAnswer {
  MHD_Connection* connection = nullptr;  ///< while it is suspended
  bool is_given = false;
  std::optional<HttpResponse> response;  ///< nothing although given: the reply was destroyed unsent
};

/// The connections that wait for an answer. Replies share ownership of the hub, which thus may outlive its server.
///
/// libmicrohttpd does not touch a suspended connection, so it exists until this class resumes it. One lock, held while
/// libmicrohttpd suspends or resumes, guarantees that it is resumed once, neither before it is suspended nor after the
/// server has stopped.
class LateHub {
 public:
  enum class Rest {
    kSuspended,  ///< the connection waits; the request handler is called again when it is resumed
    kGiven,      ///< the answer is available
    kClosed,     ///< the server stops
  };

  /// Suspends the request's connection, unless there is already something to do for it.
  [[nodiscard]] Rest rest(LateAnswer& answer, MHD_Connection& connection);
  /// Gives the answer and resumes the connection if it waits. O(connections that wait).
  void give(LateAnswer& answer, std::optional<HttpResponse> response);
  /// From now on no connection waits, and answers are discarded. A second call does nothing.
  void close();

 private:
  /// Requires: the lock is held, and the connection is suspended.
  static void resume(LateAnswer& answer);

  std::mutex mutex_;
  std::vector<LateAnswer*> waiting_;  ///< owned by their requests; unordered
  bool is_closed_ = false;
};

/// The handler's side of one late answer.
class LateReply final : public HttpLateReply {
 public:
  LateReply(std::shared_ptr<LateHub> hub, std::shared_ptr<LateAnswer> answer);
  LateReply(const LateReply&) = delete;
  LateReply& operator=(const LateReply&) = delete;
  ~LateReply() override;

  void send(HttpResponse response) override;

 private:
  void give(std::optional<HttpResponse> response);

  const std::shared_ptr<LateHub> hub_;
  std::shared_ptr<LateAnswer> answer_;  ///< null: already given
};

}  // namespace berth::edges::detail
