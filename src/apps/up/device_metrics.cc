#include "apps/up/device_metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "apps/up/up_log.h"
#include "apps/up/up_parts.h"
#include "gpu/device/device_metrics.h"
#include "live/local/local_world.h"
#include "surface/metrics/metric_text.h"

namespace berth::up {
namespace {

constexpr const char* kPlainText = "text/plain; charset=utf-8";
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowed = 405;

/// The machine's name; empty: it cannot be read.
std::string hostname() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

/// Answers GET /metrics.
class DeviceMetricsHandler final : public HttpHandler {
 public:
  DeviceMetricsHandler(const live::LocalWorld& world, device::MetricNames names)
      : world_(world), names_(std::move(names)) {}

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override {
    if (request.path != std::vector<std::string>{"metrics"}) {
      return text(kNotFound, "wanted /metrics, found another path");
    }
    if (request.method != "GET") {
      HttpResponse refusal = text(kMethodNotAllowed, "wanted GET, found " + request.method);
      refusal.headers.push_back({"Allow", "GET"});
      return refusal;
    }
    return HttpResponse{.content_type = std::string(metrics::kMetricTextType),
                        .headers = {},
                        .body = metrics::metric_text(device::device_metrics(world_.monitored(), names_))};
  }
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override {
    return text(refusal.status, refusal.message);
  }

 private:
  static HttpResponse text(int status, const std::string& message) {
    return {.status = status, .content_type = kPlainText, .headers = {}, .body = message + "\n"};
  }

  const live::LocalWorld& world_;
  const device::MetricNames names_;
};

}  // namespace

DeviceMetrics::~DeviceMetrics() { stop(); }

Result<void> DeviceMetrics::start(UpParts& parts) {
  const auto& address = parts.request.device_metrics;
  if (!address) return {};
  handler_ = std::make_unique<DeviceMetricsHandler>(
      *parts.local, device::MetricNames{.hostname_label = parts.request.hostname_label,
                                        .hostname = hostname(),
                                        .driver = parts.local->library().driver.value_or("")});
  auto server = parts.outside.start_server(address->host, address->port, *handler_);
  if (!server) return pass_on(server.error());
  server_ = std::move(*server);
  log_line(parts.outside.err, "device_metrics", {{"url", url_of(address->host, server_->port()) + "metrics"}});
  return {};
}

void DeviceMetrics::stop() {
  if (server_) server_->stop();
}

}  // namespace berth::up
