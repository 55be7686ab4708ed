/// Answers that are given later: each waits as a suspended connection, so that it costs no thread.
#pragma once

#include <microhttpd.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "domain/ports/http_server.h"

namespace berth::edges::detail {

/// What a reply and the request that it belongs to share, as either may end first. The hub alone changes it, under its
/// lock; once it is given, it is the request's.
struct LateAnswer {
  MHD_Connection* connection = nullptr;  ///< while it is suspended
  bool is_given = false;
  std::optional<HttpResponse> response;  ///< nothing, although given: the reply was destroyed unsent
};

/// The connections that wait for an answer. A reply holds the hub, which thus may outlive its server.
///
/// libmicrohttpd does not touch a suspended connection, so it exists until this class resumes it. That it is resumed
/// once, not before it is suspended and not after the server has stopped, is guaranteed by one lock, which is held
/// while libmicrohttpd suspends or resumes.
class LateHub {
 public:
  enum class Rest {
    kSuspended,  ///< the connection waits; the handler of requests is called again when it is resumed
    kGiven,      ///< the answer is there
    kClosed,     ///< the server stops
  };

  /// Suspends the request's connection, unless there is something to do for it.
  [[nodiscard]] Rest rest(LateAnswer& answer, MHD_Connection& connection);
  /// Gives the answer and resumes the connection if it waits. O(connections that wait).
  void give(LateAnswer& answer, std::optional<HttpResponse> response);
  /// From here on no connection waits, and answers are given to nobody. A second call does nothing.
  void close();

 private:
  /// Requires: the lock is held, and the connection is suspended.
  static void resume(LateAnswer& answer);

  std::mutex mutex_;
  std::vector<LateAnswer*> waiting_;  ///< their requests own them; in no order
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
  std::shared_ptr<LateAnswer> answer_;  ///< null: given
};

}  // namespace berth::edges::detail
