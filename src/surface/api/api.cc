

#include "surface/api/api.h"
#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include "live/session/session.h"
#include "surface/api/bearer_key.h"
#include "surface/api/blob_routes.h"
#include "surface/api/calibration_routes.h"
#include "surface/api/cluster_owned.h"
#include "surface/api/event_routes.h"
#include "surface/api/fault_routes.h"
#include "surface/api/gateway_routes.h"
#include "surface/api/metric_routes.h"
#include "surface/api/object_routes.h"
#include "surface/api/page_routes.h"
#include "surface/api/paging.h"
#include "surface/api/plan_routes.h"
#include "surface/api/program_routes.h"
#include "surface/api/promise_routes.h"
#include "surface/api/series_routes.h"
#include "surface/api/service_routes.h"
#include "surface/api/usage_routes.h"
#include "surface/api/warm_routes.h"
#include "surface/api/writes.h"

namespace berth::api {

std::vector<Route> api_routes() {
  std::vector<Route> routes;
  for (const auto& table : {page_routes, service_routes, object_routes, plan_routes, event_routes, fault_routes,
                            usage_routes, series_routes, promise_routes, calibration_routes, warm_routes, blob_routes,
                            metric_routes, gateway_routes, program_routes}) {
    for (Route& route : table()) routes.push_back(route);
  }
  return routes;
}

Api::Api(live::Session& session, edges::FairMutex& lock, ApiOptions options)
    : watch_(std::move(options.watch)),
      key_(std::move(options.key)),
      gateway_key_(std::move(options.gateway_key)),
      cluster_key_(std::move(options.cluster_key)),
      login_(std::move(options.login.token), std::move(options.login.key)),
      meter_(options.metered_max),
      context_{.session = SessionAccess(session, lock),
               .format = {.fleet = fleet_of(session.scenario()),
                          .epoch = options.epoch,
                          .devices = std::move(options.devices)},
               .page = std::move(options.page),
               .driver_status = std::move(options.driver_status),
               .usage = std::move(options.usage),
               .blobs = std::move(options.blobs),
               .series = std::move(options.series),
               .metrics = std::move(options.metrics),
               .gateway = std::move(options.gateway),
               .log_in = [this, age = std::move(options.login.token_age)](
                             const std::string& token) { return login_.exchange(token, age ? age() : Micros()); }},
      router_(api_routes()),
      submit_(std::move(options.submit)) {}

HttpAnswer Api::answer(const HttpRequest& request) {
  const auto routed = router_.find(request);
  const RequestTimer timer(meter_, request.method, routed ? routed->route->path : std::string_view());
  WatchedRequest watched(watch_, request, next_request_id());
  HttpAnswer given = answer_routed(request, routed, watched);
  if (!std::holds_alternative<HttpLater>(given)) watched.end(given);
  return timer.timed(std::move(given));
}

HttpAnswer Api::answer_routed(const HttpRequest& request, const ApiResult<Routed>& routed, WatchedRequest& watched) {
  const std::string id = watched.id();
  const bool is_public = routed && routed->route->is_public;
  const bool is_for_gateway = routed && routed->route->is_for_gateway;
  const bool may_enter = is_public || (is_for_gateway ? has_gateway_key(request) : has_key(request));
  if (routed) watched.set_route(*routed, may_enter);
  if (!may_enter) return error_response(no_key_error(is_for_gateway ? "gateway.key" : "admin.key"), id);
  if (!routed) return error_response(routed.error(), id);
  const auto owned = owned_by_cluster(context_, request, *routed);
  if (owned && !has_cluster_key(request)) return error_response(*owned, id);
  if (!is_public && !routed->route->takes_query) {
    if (const auto none = check_no_query(request); !none) return error_response(none.error(), id);
  }
  const bool is_later = submit_ && request.method != "GET" && !is_public && !is_for_gateway;
  auto given = is_later ? answer_later(request, *routed, watched)
                        : routed->route->answer(
                              context_, {.request = request, .parameters = routed->parameters, .request_id = id});
  if (!given) return error_response(given.error(), id);
  return std::move(*given);
}

ApiResult<HttpAnswer> Api::answer_later(const HttpRequest& request, const Routed& routed, WatchedRequest& watched) {
  const auto key = idempotency_key(request);
  if (!key) return tl::unexpected(key.error());
  const auto pending = std::make_shared<PendingWrite>(context_, router_, request, routed, std::move(watched));
  return HttpLater{.start = [this, pending, key = *key](std::unique_ptr<HttpLateReply> reply) {
    if (!pending->is_slow()) return submit_(pending->make(key, std::move(reply)));
    const auto held = std::make_shared<std::unique_ptr<HttpLateReply>>(std::move(reply));
    context_.blobs.run_slowly([this, pending, key, held] { submit_(pending->make(key, std::move(*held))); });
  }};
}

std::optional<std::size_t> Api::body_bytes_max(const HttpRequest& request) {
  const auto routed = router_.find(request);
  if (!routed || routed->route->body_bytes_max == 0) return std::nullopt;
  if (!(routed->route->is_for_gateway ? has_gateway_key(request) : has_key(request))) return std::nullopt;
  return routed->route->body_bytes_max;
}

HttpResponse Api::render(const HttpRefusal& refusal) {
  const std::string id = next_request_id();
  if (watch_.answered) watch_.answered({.id = id, .status = refusal.status, .took = Micros(0)});
  return error_response(api::error_of(refusal), id);
}

std::string Api::next_request_id() { return fmt::format("r-{:08}", ++request_count_); }

bool Api::has_key(const HttpRequest& request) const {
  const auto given = bearer_of(request);
  return given && (is_same_secret(*given, key_) || login_.accepts(*given) || has_cluster_key(request));
}

bool Api::has_cluster_key(const HttpRequest& request) const {
  const auto given = bearer_of(request);
  return given && !cluster_key_.empty() && is_same_secret(*given, cluster_key_);
}

bool Api::has_gateway_key(const HttpRequest& request) const {
  const auto given = bearer_of(request);
  return given && !gateway_key_.empty() && is_same_secret(*given, gateway_key_);
}

}  // namespace berth::api
