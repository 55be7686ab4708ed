/// Figures of a gateway for Prometheus, at an address of their own: whoever may read them need not reach services, nor
/// the other way round.
#pragma once

#include "domain/ports/http_server.h"
#include "edges/gateway_server/gateway_server.h"

namespace berth::gateway {

/// `GET /metrics`.
class MetricsHandler final : public HttpHandler {
 public:
  /// The server is borrowed.
  explicit MetricsHandler(const edges::GatewayServer& server) : server_(server) {}

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

 private:
  const edges::GatewayServer& server_;
};

}  // namespace berth::gateway
