#include "surface/api/metric_routes.h"

#include <string>

#include "surface/api/api_context.h"
#include "surface/metrics/metric_text.h"

namespace berth::api {
namespace {

ApiResult<HttpAnswer> get_metrics(const ApiContext& context, const Call& /*call*/) {
  if (!context.metrics) {
    return tl::unexpected(ApiError{.status = 404, .code = "not_found", .message = "there are no metrics here"});
  }
  return HttpResponse{.status = 200,
                      .content_type = std::string(metrics::kMetricTextType),
                      .headers = {{"Cache-Control", "no-store"}},
                      .body = metrics::metric_text(context.metrics())};
}

}  // namespace

// Scrapers of Prometheus may add parameters, which mean nothing here.
std::vector<Route> metric_routes() {
  return {{.method = "GET", .path = "/metrics", .answer = get_metrics, .takes_query = true}};
}

}  // namespace berth::api
