#include "edges/http_server/http_server.h"

#include <fmt/format.h>
#include <microhttpd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "edges/http_server/detail/early_answer.h"
#include "edges/http_server/detail/exchange.h"
#include "edges/http_server/detail/large_answers.h"
#include "edges/http_server/detail/late_answers.h"
#include "edges/http_server/detail/listener.h"
#include "edges/http_server/detail/open_heads.h"
#include "edges/http_server/detail/response.h"
#include "edges/http_server/detail/resumer.h"
#include "edges/http_server/detail/streams.h"
#include "edges/http_server/detail/waiting_connections.h"

namespace berth::edges {
namespace {

using detail::Exchange;
using detail::LateAnswer;
using detail::LateBody;
using detail::LateHub;
using detail::LateReply;
using detail::make_response;
using detail::Progress;
using detail::ResponsePointer;

// Connections beyond the limit that are accepted only to be refused with an answer; others wait in the system's queue.
constexpr unsigned kSurplusCountMax = 16;
// libmicrohttpd (0.9.75) takes up to 128 events at a time. If it finds exactly 128, it waits for more before it handles
// them, for as long as the idle timeout. So a thread gets fewer connections: one event of each, two of its own.
constexpr unsigned kThreadConnectionCountMax = 120;
static_assert(kHttpThreadConnectionCountMax + kSurplusCountMax <= kThreadConnectionCountMax);
// The memory that libmicrohttpd reserves for a connection: headers of three times the limit, their table, and the
// answer's headers.
constexpr std::size_t kPoolFactor = 4;
constexpr std::size_t kPoolBytesMin = 32'768;
// It clears them after each request, which costs a server of many small requests more than all else.
constexpr std::size_t kSmallPoolBytesMin = 8'192;

constexpr const char* kUnsendable = "the handler's answer has a header that cannot be sent";

// A turn ends after so many runs, even if there is more to do: others wait for their turn.
constexpr int kRunsOfTurnMax = 4;

enum class Threads { kOwn, kOfCaller };

/// What happens to a connection after an answer, if its client does not say.
enum class Then { kKeep, kClose };

HttpServerOptions within_limits(HttpServerOptions options) {
  const std::uint64_t limit = std::uint64_t{options.thread_count} * kHttpThreadConnectionCountMax;
  if (options.connection_count_max > limit) options.connection_count_max = static_cast<unsigned>(limit);
  return options;
}

/// Its refusal, for a handler that also looks at the request. Requires: it has one.
HttpRefusal with_request(const Exchange& exchange) {
  HttpRefusal refusal = *exchange.refusal();
  refusal.request = &exchange.request();
  return refusal;
}

class MicroHttpServer final : public TurnedHttpServer {
 public:
  MicroHttpServer(HttpServerOptions options, HttpHandler& handler, std::uint16_t port)
      : options_(std::move(options)), handler_(handler), port_(port) {}
  ~MicroHttpServer() override { stop(); }
  MicroHttpServer(const MicroHttpServer&) = delete;
  MicroHttpServer& operator=(const MicroHttpServer&) = delete;

  /// Takes the listener's socket, unless it fails before.
  [[nodiscard]] bool start(detail::Listener& listener, Threads threads);

  [[nodiscard]] int descriptor() const override { return resumer_->descriptor(); }
  [[nodiscard]] std::optional<Micros> turn() override;

  [[nodiscard]] std::uint16_t port() const override { return port_; }
  void wake_streams() override { hub_.wake_all(); }
  void stop() override {
    // No connection may be suspended when the library stops.
    hub_.close();
    late_hub_->close();
    waiting_.stop();
    if (daemon_ != nullptr) MHD_stop_daemon(std::exchange(daemon_, nullptr));
  }

 private:
  // Callbacks of libmicrohttpd. None lets an exception escape.
  static void on_message(void* server, const char* format, std::va_list values) noexcept;
  static void* on_target(void* server, const char* target, MHD_Connection* connection) noexcept;
  static MHD_Result on_request(void* server, MHD_Connection* connection, const char* url, const char* method,
                               const char* version, const char* upload, std::size_t* upload_bytes,
                               void** exchange) noexcept;
  static void on_completed(void* server, MHD_Connection* connection, void** exchange,
                           MHD_RequestTerminationCode code) noexcept;
  static void on_connection(void* server, MHD_Connection* connection, void** mark,
                            MHD_ConnectionNotificationCode code) noexcept;

  [[nodiscard]] MHD_Result finish(MHD_Connection& connection, Exchange& exchange);
  [[nodiscard]] MHD_Result ask_handler(MHD_Connection& connection, Exchange& exchange);
  void start_later(Exchange& exchange, const HttpLater& later);
  [[nodiscard]] MHD_Result finish_later(MHD_Connection& connection, const Exchange& exchange);
  [[nodiscard]] MHD_Result queue(MHD_Connection& connection, const Exchange& exchange, HttpResponse response);
  [[nodiscard]] MHD_Result queue(MHD_Connection& connection, HttpParts parts);
  [[nodiscard]] MHD_Result queue(MHD_Connection& connection, HttpEventStream stream, bool is_head);
  [[nodiscard]] MHD_Result queue(MHD_Connection& connection, const Exchange& exchange, const HttpBodyHead& head,
                                 std::shared_ptr<LateBody> body);
  [[nodiscard]] MHD_Result refuse_failure(MHD_Connection& connection, std::string message);
  [[nodiscard]] MHD_Result refuse(MHD_Connection& connection, const HttpRefusal& refusal, Then then = Then::kKeep);
  [[nodiscard]] MHD_Result refuse_early(MHD_Connection& connection, const Exchange& exchange);
  void refuse_lengths();

  const HttpServerOptions options_;
  HttpHandler& handler_;
  const std::uint16_t port_;
  // Replies may outlive the server.
  const std::shared_ptr<detail::Resumer> resumer_ = std::make_shared<detail::Resumer>();
  const std::shared_ptr<LateHub> late_hub_ = std::make_shared<LateHub>(resumer_);
  detail::StreamHub hub_{options_.comment_interval, resumer_};
  detail::LargeBodies large_bodies_{options_.large_body_count_max};
  detail::LargeAnswers large_answers_{options_.large_answer_bytes_min, options_.large_answer_bytes_max};
  detail::OpenHeads open_heads_;
  detail::WaitingConnections waiting_{options_.request_timeout, options_.connection_count_max};
  MHD_Daemon* daemon_ = nullptr;
};

/// The library would decode targets, leniently; they are decoded by parse_target.
std::size_t keep_escapes(void* /*server*/, MHD_Connection* /*connection*/, char* text) noexcept {
  return std::strlen(text);
}

using Mark = detail::WaitingConnections::Connection;

/// Null: there was no memory for it.
Mark* mark_of(MHD_Connection& connection) {
  const auto* mark = MHD_get_connection_info(&connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return mark == nullptr ? nullptr : static_cast<Mark*>(mark->socket_context);
}

unsigned whole_seconds(Micros time) {
  return static_cast<unsigned>((time.count() + kMicrosPerSecond - 1) / kMicrosPerSecond);
}

/// For answers to HEAD: libmicrohttpd would terminate chunks that it does not send.
void turn_chunks_off(MHD_Response& response) {
  MHD_set_response_options(&response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

bool MicroHttpServer::start(detail::Listener& listener, Threads threads) {
  const bool is_turned = threads == Threads::kOfCaller;
  const unsigned thread_count = is_turned ? 1 : options_.thread_count;
  // Each thread has its share of the library's limit, but may get more than its share of the connections.
  const unsigned wanted = options_.connection_count_max + kSurplusCountMax;
  const unsigned limit = is_turned ? wanted : std::min(wanted, kThreadConnectionCountMax) * thread_count;
  const std::size_t pool_bytes = options_.header_bytes_max * kPoolFactor +
                                 std::min(kPoolBytesMin, 2 * options_.header_bytes_max + kSmallPoolBytesMin);
  const unsigned flags =
      (is_turned ? MHD_USE_EPOLL : MHD_USE_EPOLL_INTERNAL_THREAD) | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
  daemon_ = MHD_start_daemon(
      flags, 0, nullptr, nullptr, &MicroHttpServer::on_request, this, MHD_OPTION_EXTERNAL_LOGGER,
      &MicroHttpServer::on_message, this, MHD_OPTION_LISTEN_SOCKET, listener.socket(), MHD_OPTION_CONNECTION_LIMIT,
      limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT, pool_bytes, MHD_OPTION_CONNECTION_TIMEOUT,
      whole_seconds(options_.idle_timeout), MHD_OPTION_URI_LOG_CALLBACK, &MicroHttpServer::on_target, this,
      MHD_OPTION_UNESCAPE_CALLBACK, &keep_escapes, nullptr, MHD_OPTION_NOTIFY_COMPLETED, &MicroHttpServer::on_completed,
      this, MHD_OPTION_NOTIFY_CONNECTION, &MicroHttpServer::on_connection, this,
      thread_count > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, thread_count, MHD_OPTION_END);
  if (daemon_ == nullptr) return false;
  listener.release();
  if (!is_turned) return true;
  const auto* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD);
  return info != nullptr && resumer_->wake_whoever_turns(info->epoll_fd);
}

std::optional<Micros> MicroHttpServer::turn() {
  resumer_->begin_turn();
  for (int i = 0; i < kRunsOfTurnMax; ++i) {
    MHD_run(daemon_);
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    if (MHD_get_timeout(daemon_, &wait_ms) != MHD_YES) return std::nullopt;
    if (wait_ms > 0) return Micros(static_cast<std::int64_t>(wait_ms) * 1000);
  }
  return Micros(0);
}

void MicroHttpServer::on_message(void* server, const char* format, std::va_list /*values*/) noexcept {
  try {
    if (detail::is_about_length(format)) static_cast<MicroHttpServer*>(server)->refuse_lengths();
  } catch (...) {  // no memory: the library answers
    return;
  }
}

void* MicroHttpServer::on_target(void* server, const char* target, MHD_Connection* connection) noexcept {
  try {
    auto& self = *static_cast<MicroHttpServer*>(server);
    self.open_heads_.add(*connection);
    return std::make_unique<Exchange>(self.options_, self.handler_, self.large_bodies_, target)
        .release();  // on_completed owns it
  } catch (...) {
    return nullptr;  // no memory: on_request closes the connection
  }
}

MHD_Result MicroHttpServer::on_request(void* server, MHD_Connection* connection, const char* url, const char* method,
                                       const char* version, const char* upload, std::size_t* upload_bytes,
                                       void** exchange) noexcept {
  try {
    auto& self = *static_cast<MicroHttpServer*>(server);
    auto* request = static_cast<Exchange*>(*exchange);
    if (request == nullptr) return MHD_NO;
    const bool is_complete = request->has_begun() && *upload_bytes == 0;
    if (is_complete) {
      if (auto* mark = mark_of(*connection)) self.waiting_.note_request(mark);
      return self.finish(*connection, *request);
    }
    Progress progress = Progress::kRead;
    if (!request->has_begun()) {
      self.open_heads_.remove(*connection);
      const auto* mark = mark_of(*connection);
      progress = request->begin(*connection, {method, url, version}, mark != nullptr && mark->is_surplus);
    } else {
      progress = request->take_body({upload, std::exchange(*upload_bytes, 0)});
    }
    switch (progress) {
      case Progress::kRead:
        return MHD_YES;
      case Progress::kRefuse:
        return self.refuse(*connection, with_request(*request), Then::kClose);
      case Progress::kRefuseEarly:
        return self.refuse_early(*connection, *request);
      case Progress::kClose:
        return MHD_NO;
    }
    return MHD_NO;
  } catch (...) {
    return MHD_NO;  // no memory: we can only close the connection
  }
}

void MicroHttpServer::on_completed(void* server, MHD_Connection* connection, void** exchange,
                                   MHD_RequestTerminationCode /*code*/) noexcept {
  auto& self = *static_cast<MicroHttpServer*>(server);
  self.open_heads_.remove(*connection);
  if (auto* mark = mark_of(*connection)) self.waiting_.note_answer(mark);
  const std::unique_ptr<Exchange> owned(static_cast<Exchange*>(std::exchange(*exchange, nullptr)));
}

void MicroHttpServer::on_connection(void* server, MHD_Connection* connection, void** mark,
                                    MHD_ConnectionNotificationCode code) noexcept {
  auto& self = *static_cast<MicroHttpServer*>(server);
  try {
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      self.waiting_.remove(static_cast<Mark*>(std::exchange(*mark, nullptr)));
    } else {
      const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      *mark = self.waiting_.add(info == nullptr ? -1 : info->connect_fd);
    }
  } catch (...) {
    *mark = nullptr;  // no memory: it is not counted
  }
}

// Called again after the connection was suspended for a deferred answer and resumed.
MHD_Result MicroHttpServer::finish(MHD_Connection& connection, Exchange& exchange) {
  if (exchange.was_refused_early()) return MHD_NO;
  if (exchange.refusal()) return refuse(connection, with_request(exchange));
  try {
    if (exchange.late_answer() == nullptr) return ask_handler(connection, exchange);
    return finish_later(connection, exchange);
  } catch (const std::exception& error) {
    return refuse_failure(connection, fmt::format("the handler failed: {}", error.what()));
  }
}

MHD_Result MicroHttpServer::ask_handler(MHD_Connection& connection, Exchange& exchange) {
  HttpAnswer answer = handler_.answer_taking(exchange.request());
  if (auto* response = std::get_if<HttpResponse>(&answer)) return queue(connection, exchange, std::move(*response));
  if (auto* parts = std::get_if<HttpParts>(&answer)) return queue(connection, std::move(*parts));
  if (auto* stream = std::get_if<HttpEventStream>(&answer)) {
    return queue(connection, std::move(*stream), exchange.is_head());
  }
  start_later(exchange, std::get<HttpLater>(answer));
  return finish_later(connection, exchange);
}

void MicroHttpServer::start_later(Exchange& exchange, const HttpLater& later) {
  auto answer = std::make_shared<LateAnswer>();
  exchange.set_late_answer(answer);
  later.start(std::make_unique<LateReply>(late_hub_, std::move(answer)));
}

MHD_Result MicroHttpServer::finish_later(MHD_Connection& connection, const Exchange& exchange) {
  LateAnswer& answer = *exchange.late_answer();
  switch (late_hub_->rest(answer, connection)) {
    case LateHub::Rest::kSuspended:
      return MHD_YES;
    case LateHub::Rest::kClosed:
      return MHD_NO;
    case LateHub::Rest::kGiven:
      break;
  }
  if (answer.body != nullptr) return queue(connection, exchange, *answer.head, std::exchange(answer.body, nullptr));
  if (!answer.response) return refuse_failure(connection, "the handler gave no answer");
  return queue(connection, exchange, *std::exchange(answer.response, std::nullopt));
}

MHD_Result MicroHttpServer::queue(MHD_Connection& connection, const Exchange& exchange, HttpResponse response) {
  const auto status = static_cast<unsigned>(response.status);
  const std::size_t bytes = response.body.size();
  // A request that changed something must not be answered as if it had failed.
  auto place = exchange.request().method == "GET" ? large_answers_.enter(bytes)
                                                  : std::optional(large_answers_.enter_anyway(bytes));
  if (!place) {
    return refuse(connection,
                  {HttpFault::kTooManyLargeAnswers, 503,
                   fmt::format("wanted at most {} bytes of large answers that their clients have not read: try again",
                               options_.large_answer_bytes_max)});
  }
  const ResponsePointer made = make_response(std::move(response), std::move(*place));
  if (made == nullptr) return refuse_failure(connection, kUnsendable);
  return MHD_queue_response(&connection, status, made.get());
}

MHD_Result MicroHttpServer::queue(MHD_Connection& connection, HttpParts parts) {
  const ResponsePointer made = make_response(std::move(parts));
  if (made == nullptr) return refuse_failure(connection, kUnsendable);
  return MHD_queue_response(&connection, MHD_HTTP_OK, made.get());
}

MHD_Result MicroHttpServer::queue(MHD_Connection& connection, HttpEventStream stream, bool is_head) {
  const ResponsePointer made = make_response(std::move(stream), hub_, connection);
  if (made == nullptr) return refuse_failure(connection, kUnsendable);
  if (is_head) turn_chunks_off(*made);
  return MHD_queue_response(&connection, MHD_HTTP_OK, made.get());
}

MHD_Result MicroHttpServer::queue(MHD_Connection& connection, const Exchange& exchange, const HttpBodyHead& head,
                                  std::shared_ptr<LateBody> body) {
  if (!head.bytes && exchange.takes_chunks()) body->allow_chunks();
  const ResponsePointer made = make_response(head, std::move(body), connection);
  if (made == nullptr) return refuse_failure(connection, kUnsendable);
  if (exchange.is_head() && !head.bytes) turn_chunks_off(*made);
  return MHD_queue_response(&connection, static_cast<unsigned>(head.status), made.get());
}

MHD_Result MicroHttpServer::refuse_failure(MHD_Connection& connection, std::string message) {
  return refuse(connection, {HttpFault::kHandlerFailed, 500, std::move(message)});
}

MHD_Result MicroHttpServer::refuse(MHD_Connection& connection, const HttpRefusal& refusal, Then then) {
  ResponsePointer made = make_response(handler_.render(refusal));
  if (made == nullptr) made = make_response(HttpResponse{});
  if (made == nullptr) return MHD_NO;
  if (then == Then::kClose && MHD_add_response_header(made.get(), "Connection", "close") != MHD_YES) return MHD_NO;
  return MHD_queue_response(&connection, static_cast<unsigned>(refusal.status), made.get());
}

MHD_Result MicroHttpServer::refuse_early(MHD_Connection& connection, const Exchange& exchange) {
  HttpResponse response = handler_.render(with_request(exchange));
  response.status = exchange.refusal()->status;
  return detail::send_early(connection, response, exchange.is_head()) ? MHD_YES : MHD_NO;
}

void MicroHttpServer::refuse_lengths() {
  for (MHD_Connection* connection : open_heads_.malformed_lengths()) {
    const auto refusal = detail::find_length_fault(*connection);
    HttpResponse response = handler_.render(*refusal);
    response.status = refusal->status;
    // The answer is the last that can be sent: the library then fails to send its own ones.
    if (!detail::send_early(*connection, response, false)) detail::end_sending(*connection);
    open_heads_.remove(*connection);
  }
}

Result<std::unique_ptr<MicroHttpServer>> start_server(const HttpServerOptions& options, HttpHandler& handler,
                                                      Threads threads) {
  ENSURE(options.body_bytes_max > 0 && options.target_bytes_max > 0 && options.header_bytes_max > 0);
  ENSURE(options.connection_count_max > 0 && options.thread_count > 0);
  ENSURE(options.idle_timeout.count() > 0 && options.comment_interval.count() > 0);
  auto listener = detail::listen_at(options.host, options.port);
  if (!listener) return pass_on(listener.error());
  auto server = std::make_unique<MicroHttpServer>(options, handler, listener->port());
  if (!server->start(*listener, threads)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}:{}: cannot start the HTTP server", options.host, listener->port()));
  }
  return server;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> start_http_server(const HttpServerOptions& options, HttpHandler& handler) {
  return start_server(within_limits(options), handler, Threads::kOwn);
}

Result<std::unique_ptr<TurnedHttpServer>> start_turned_http_server(const HttpServerOptions& options,
                                                                   HttpHandler& handler) {
  return start_server(options, handler, Threads::kOfCaller);
}

}  // namespace berth::edges
