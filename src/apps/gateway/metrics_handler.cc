#include "apps/gateway/metrics_handler.h"

#include <string>
#include <utility>
#include <vector>

#include "surface/metrics/metric_text.h"

namespace berth::gateway {
namespace {

HttpResponse plain_answer(int status, std::string text) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .headers = {}, .body = std::move(text)};
}

}  // namespace

HttpAnswer MetricsHandler::answer(const HttpRequest& request) {
  if (request.path != std::vector<std::string>{"metrics"}) {
    return plain_answer(404, "wanted /metrics, found another path\n");
  }
  if (request.method != "GET") return plain_answer(405, "wanted GET\n");
  return HttpResponse{.status = 200,
                      .content_type = std::string(metrics::kMetricTextType),
                      .headers = {},
                      .body = metrics::metric_text(server_.metrics())};
}

HttpResponse MetricsHandler::render(const HttpRefusal& refusal) {
  return plain_answer(refusal.status, refusal.message + "\n");
}

}  // namespace berth::gateway
