/// Deferred answers: each waits as a suspended connection, so that it costs no thread.
#pragma once

#include <microhttpd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "domain/ports/http_server.h"
#include "edges/http_server/detail/late_body.h"
#include "edges/http_server/detail/resumer.h"

namespace berth::edges::detail {

/// How soon a watched client that has left is noticed.
inline constexpr std::chrono::milliseconds kClientCheckInterval{100};

/// The state shared by a reply and its request, as either may end first. Only the hub changes it, under its lock; once
/// the answer is given, the request owns it.
struct LateAnswer {
  MHD_Connection* connection = nullptr;  ///< while it is suspended
  std::size_t place = 0;                 ///< then: among those that wait
  int socket = -1;                       ///< then
  bool is_given = false;
  bool is_gone = false;                  ///< the client has left: the connection is to be closed
  std::optional<HttpResponse> response;  ///< nothing although given and without body: the reply was destroyed unsent
  std::optional<HttpBodyHead> head;      ///< of `body`
  std::shared_ptr<LateBody> body;        ///< null: the answer is `response`
  std::function<void()> on_gone;         ///< empty: the client is not watched
};

/// The connections that wait for an answer, and the thread that watches their clients: libmicrohttpd does not watch
/// suspended connections. Replies share ownership of the hub, which thus may outlive its server.
///
/// libmicrohttpd does not touch a suspended connection, so it exists until this class resumes it. One lock, held while
/// libmicrohttpd suspends or resumes, guarantees that it is resumed once, neither before it is suspended nor after the
/// server has stopped. The locks of bodies are taken after it.
class LateHub {
 public:
  enum class Rest {
    kSuspended,  ///< the connection waits; the request handler is called again when it is resumed
    kGiven,      ///< the answer is available
    kClosed,     ///< the server stops, or the client has left
  };

  explicit LateHub(std::shared_ptr<Resumer> resumer) : resumer_(std::move(resumer)) {}
  LateHub(const LateHub&) = delete;
  LateHub& operator=(const LateHub&) = delete;
  ~LateHub() { close(); }

  /// Suspends the request's connection, unless there is already something to do for it.
  [[nodiscard]] Rest rest(LateAnswer& answer, MHD_Connection& connection);
  /// Gives the answer and resumes the connection if it waits. Nothing: the reply was destroyed unsent.
  void give(LateAnswer& answer, std::optional<HttpResponse> response);
  /// Gives an answer whose body is written from now on.
  [[nodiscard]] std::shared_ptr<LateBody> begin(LateAnswer& answer, HttpBodyHead head, std::function<void()> on_room);
  /// Calls `gone` once if the client leaves, or the server stops, before the answer is given.
  void watch(LateAnswer& answer, std::function<void()> gone);
  /// From now on no connection waits, and answers are discarded. A second call does nothing. Not for `gone`.
  void close();

 private:
  // These require that the lock is held.
  void suspend(LateAnswer& answer, MHD_Connection& connection);
  void resume(LateAnswer& answer);
  void start_watching();
  /// Resumes the connections of watched clients that have left; the result is to be called without the lock.
  [[nodiscard]] std::vector<std::function<void()>> take_gone();
  [[nodiscard]] std::vector<std::shared_ptr<LateBody>> open_bodies();

  void watch_clients();
  void check_clients();

  const std::shared_ptr<Resumer> resumer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LateAnswer*> waiting_;  ///< owned by their requests; unordered
  std::vector<std::weak_ptr<LateBody>> bodies_;
  bool is_closed_ = false;
  bool is_watch_asleep_ = false;
  std::thread watch_;  ///< begins with the first client to watch
};

/// The handler's side of one late answer.
class LateReply final : public HttpLateReply {
 public:
  LateReply(std::shared_ptr<LateHub> hub, std::shared_ptr<LateAnswer> answer);
  LateReply(const LateReply&) = delete;
  LateReply& operator=(const LateReply&) = delete;
  ~LateReply() override;

  void send(HttpResponse response) override;
  [[nodiscard]] std::unique_ptr<HttpBodyWriter> begin(HttpBodyHead head, std::function<void()> on_room) override;
  void on_gone(std::function<void()> gone) override;

 private:
  void give(std::optional<HttpResponse> response);

  const std::shared_ptr<LateHub> hub_;
  std::shared_ptr<LateAnswer> answer_;  ///< null: already given
  std::shared_ptr<LateBody> body_;      ///< null until `begin`
};

}  // namespace berth::edges::detail
