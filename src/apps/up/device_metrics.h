/// The figures of this machine's GPUs for Prometheus, on a server of their own: without a key, on a loopback address.
#pragma once

#include <memory>

#include "base/core/result.h"
#include "domain/ports/http_server.h"

namespace berth::up {

struct UpParts;

/// A handler and its server.
class DeviceMetrics {
 public:
  DeviceMetrics() = default;
  DeviceMetrics(const DeviceMetrics&) = delete;
  DeviceMetrics& operator=(const DeviceMetrics&) = delete;
  ~DeviceMetrics();

  /// Begins to serve GET /metrics if the request asks for it, and logs the address. Requires: a local world, if so.
  /// Error: the address is in use.
  [[nodiscard]] Result<void> start(UpParts& parts);
  /// After this the local world is not used any more.
  void stop();

 private:
  std::unique_ptr<HttpHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace berth::up
