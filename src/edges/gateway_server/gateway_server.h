/// Passes requests to the replicas of services, and counts them. The handler of the HTTP server of `berth gateway`.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/core/instant.h"
#include "domain/ports/http_server.h"
#include "domain/ports/http_stream_client.h"
#include "serving/gateway/gateway.h"

namespace berth::edges {

namespace detail {
struct PassedRequest;
}

struct GatewayServerOptions {
  std::string name;  ///< of its reports
  serving::GatewayTerms terms = {};
  std::size_t body_bytes_max = std::size_t{64} << 20U;  ///< of a request to a service
  /// From the begin of an answer that says its length to its end; one that does not is a stream.
  Micros whole_answer_max = Micros::seconds(600);
};

/// Routes: `/TENANT/SERVICE/...` to that service; `GET /berth/v1/status` and `/berth/v1/ready` are its own.
/// Errors of its own are `{"error": MESSAGE}`. Any thread may call its functions.
class GatewayServer final : public HttpHandler {
 public:
  /// The client is borrowed, and must be destroyed after the server's threads have ended and before this.
  explicit GatewayServer(GatewayServerOptions options);
  GatewayServer(const GatewayServer&) = delete;
  GatewayServer& operator=(const GatewayServer&) = delete;
  ~GatewayServer() override;

  /// Before the first request.
  void start(HttpStreamClient& client);
  /// From now on requests get 503; those under way go on for at most `at_most`, and are refused then. A second call
  /// does nothing.
  void stop(Micros at_most);

  void take_table(const EndpointTable& table);
  /// With the records of all seconds that are over.
  [[nodiscard]] RequestReport report();
  void acknowledge(std::uint64_t until);
  /// For monitoring systems.
  [[nodiscard]] std::vector<MetricFamily> metrics() const;
  /// Makes records of all seconds, also of the one that is not over: before the end.
  void close_all_seconds();

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] HttpAnswer answer_taking(HttpRequest& request) override;
  [[nodiscard]] std::string share_of(const HttpRequest& request) override;
  [[nodiscard]] std::optional<std::size_t> body_bytes_max(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

  // For the calls to replicas; see detail/passed_call.h.
  void note_start(detail::PassedRequest& passed, HttpCallNumber number);
  /// `has_length`: the answer says how long it is.
  [[nodiscard]] bool begin_answer(detail::PassedRequest& passed, bool has_length);
  void end_call(detail::PassedRequest& passed, serving::GatewayEnd how);
  [[nodiscard]] HttpStreamClient& client() { return *client_; }

 private:
  using Passed = std::shared_ptr<detail::PassedRequest>;

  /// Calls to start once the lock is released, as their thread begins at once.
  struct Start {
    Passed passed;
    std::shared_ptr<const Endpoint> replica;
  };
  void pass(const Passed& passed, const serving::GatewayArrival& arrival);
  /// Requires that the lock is held. A refusal, if it does not arrive at all.
  [[nodiscard]] std::optional<HttpResponse> accept(const Passed& passed, const serving::GatewayArrival& arrival,
                                                   std::vector<Start>& starts);
  void leave(const Passed& passed);
  void start_calls(const std::vector<Start>& starts);
  // These require that the lock is held.
  [[nodiscard]] std::vector<Start> carry_out(const std::vector<serving::GatewayOrder>& orders);
  void refuse(const serving::GatewayRefuse& order);
  void break_off_late(Instant now);
  void cancel(const serving::GatewayCancel& order);

  void run();
  [[nodiscard]] HttpResponse own_answer(const HttpRequest& request) const;

  const GatewayServerOptions options_;
  HttpStreamClient* client_ = nullptr;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  serving::Gateway gateway_;
  std::unordered_map<serving::GatewayRequestId, Passed> passed_;
  Instant wake_at_ = Instant::never();
  bool is_stopping_ = false;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace berth::edges
