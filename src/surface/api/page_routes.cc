#include "surface/api/page_routes.h"

#include <fmt/format.h>

#include "base/json/writer.h"
#include "base/yaml/reader.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/device_json.h"
#include "surface/api/one_time_login.h"
#include "surface/api/overview.h"
#include "surface/api/paging.h"
#include "surface/api/request_body.h"
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
  if (auto away = cluster_away_error(context.format.devices)) return tl::unexpected(*std::move(away));
  return json_response(200, R"({"status":"ready"})");
}

/// 200 with a key of this process, once; 401 else, whatever the reason is.
ApiResult<HttpAnswer> log_in(const ApiContext& context, const Call& call) {
  const auto tree = parse_body(call.request);
  if (!tree) return tl::unexpected(tree.error());
  yaml::Report report("body");
  const yaml::Value root(*tree, report);
  root.check_keys({"token"});
  const std::string token = root.at("token").text("the text of a login address behind #login=");
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  const auto key = context.log_in(token);
  if (!key) {
    return tl::unexpected(ApiError{
        .status = 401,
        .code = "login_unusable",
        .message = fmt::format("wanted the token of a login address that was not used before and is at most {} "
                               "minutes old",
                               OneTimeLogin::kLifetime.count() / Micros::seconds(60).count())});
  }
  HttpResponse response = json_response(200, json::Writer().open_object().member("key", *key).close_object().take());
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
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
      {.method = "POST", .path = "/v1/login", .answer = log_in, .is_public = true},
      {.method = "GET", .path = "/healthz", .answer = get_health, .is_public = true},
      {.method = "GET", .path = "/readyz", .answer = get_readiness, .is_public = true},
      {.method = "GET", .path = "/v1/status", .answer = get_status},
      {.method = "GET", .path = "/v1/overview", .answer = get_overview, .takes_query = true},
  };
}

}  // namespace berth::api
