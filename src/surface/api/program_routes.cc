#include "surface/api/program_routes.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

constexpr std::size_t kLogBytesMax = std::size_t{64} << 10U;

std::vector<live::ServiceName> services_of(const ApiContext& context) {
  return context.session.with([](const live::Session& session) {
    std::vector<live::ServiceName> names;
    for (const auto& [name, entry] : session.catalog().services) names.push_back(name);
    return names;
  });
}

/// The list of Prometheus' HTTP service discovery: a target for each process that is ready.
ApiResult<HttpAnswer> get_targets(const ApiContext& context, const Call& /*call*/) {
  json::Writer json;
  json.open_list();
  const auto& programs_of = context.format.devices.programs;
  for (const live::ServiceName& name : services_of(context)) {
    if (!programs_of) break;
    for (const Endpoint& endpoint : programs_of(name.tenant, name.name).endpoints) {
      constexpr std::string_view kScheme = "http://";
      json.open_object().open_list("targets").value(endpoint.url.substr(kScheme.size())).close_list();
      json.open_object("labels").member("tenant", name.tenant).member("service", name.name);
      json.member("slice", fmt::format("{}-{}", endpoint.slice, endpoint.generation)).close_object().close_object();
    }
  }
  return json_response(200, json.close_list().take());
}

/// The last bytes of the log of each program of the service.
ApiResult<HttpAnswer> get_logs(const ApiContext& context, const Call& call) {
  const live::ServiceName name{.tenant = call.parameter("t"), .name = call.parameter("name")};
  const bool is_known =
      context.session.with([&](const live::Session& session) { return session.catalog().services.contains(name); });
  if (!is_known) {
    return tl::unexpected(ApiError{
        .status = 404, .code = "not_found", .message = fmt::format("no service {}/{}", name.tenant, name.name)});
  }
  json::Writer json;
  json.open_object().open_list("items");
  const live::DeviceSource& devices = context.format.devices;
  if (devices.programs) {
    for (const live::ProgramView& program : devices.programs(name.tenant, name.name).programs) {
      json.open_object().member("slice", fmt::format("{}-{}", program.slice, program.generation));
      json.member("text", devices.log(program.slice, program.generation, kLogBytesMax)).close_object();
    }
  }
  return json_response(200, json.close_list().close_object().take());
}

}  // namespace

std::vector<Route> program_routes() {
  return {
      {.method = "GET", .path = "/v1/sd/prometheus", .answer = get_targets},
      {.method = "GET", .path = "/v1/tenants/{t}/services/{name}/logs", .answer = get_logs},
  };
}

}  // namespace berth::api
