#include "surface/api/page_routes.h"

#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/device_json.h"
#include "surface/api/overview.h"
#include "surface/api/paging.h"
#include "surface/api/status.h"

namespace berth::api {
namespace {

ApiResult<HttpAnswer> get_page(const ApiContext& context, const Call& /*call*/) {
  return HttpResponse{
      .status = 200,
      .content_type = "text/html; charset=utf-8",
      .headers = {{"Content-Security-Policy",
                   "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
                   "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                  {"Cache-Control", "no-store"},
                  {"Referrer-Policy", "no-referrer"},
                  {"X-Content-Type-Options", "nosniff"}},
      .body = context.page};
}

ApiResult<HttpAnswer> get_health(const ApiContext& /*context*/, const Call& /*call*/) {
  return json_response(200, R"({"status":"ok"})");
}

ApiResult<HttpAnswer> get_readiness(const ApiContext& context, const Call& /*call*/) {
  if (const auto failure = context.driver_status().store_failure) return tl::unexpected(read_only_error(*failure));
  if (auto gone = why_agent_gone(context.format.devices)) return tl::unexpected(agent_gone_error(*std::move(gone)));
  return json_response(200, R"({"status":"ready"})");
}

ApiResult<HttpAnswer> get_status(const ApiContext& context, const Call& /*call*/) {
  const StatusView view = context.session.with([](const live::Session& session) { return view_status(session); });
  return json_response(200, status_object(context, view));
}

ApiResult<HttpAnswer> get_overview(const ApiContext& context, const Call& call) {
  const auto query = parse_overview_query(call.request);
  if (!query) return tl::unexpected(query.error());
  const OverviewView view =
      context.session.with([&](const live::Session& session) { return view_overview(session, *query); });
  return json_response(200, overview_object(context, view));
}

}  // namespace

std::vector<Route> page_routes() {
  return {
      {.method = "GET", .path = "/", .answer = get_page, .is_public = true},
      {.method = "GET", .path = "/healthz", .answer = get_health, .is_public = true},
      {.method = "GET", .path = "/readyz", .answer = get_readiness, .is_public = true},
      {.method = "GET", .path = "/v1/status", .answer = get_status},
      {.method = "GET", .path = "/v1/overview", .answer = get_overview, .takes_query = true},
  };
}

}  // namespace berth::api
