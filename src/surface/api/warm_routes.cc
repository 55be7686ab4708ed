#include "surface/api/warm_routes.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

using json::Writer;

struct WarmView {
  std::string tenant;
  std::string name;
  WarmStatus status;
};

/// The services with a pool, by tenant and name.
ApiResult<Page<WarmView>> read_warm(const live::Session& session, const HttpRequest& request) {
  std::vector<std::pair<live::ServiceName, const WarmStatus*>> listed;
  for (const auto& [name, entry] : session.catalog().services) {
    if (const WarmStatus* status = session.warm_of(entry.id)) listed.emplace_back(name, status);
  }
  const ListKeys keys{.count = listed.size(),
                      .key = [&](std::size_t i) { return listed[i].first.tenant + '\0' + listed[i].first.name; }};
  return read_page(request, keys, [&](std::size_t i) {
    return WarmView{.tenant = listed[i].first.tenant, .name = listed[i].first.name, .status = *listed[i].second};
  });
}

std::string warm_json(const ObjectFormat& format, const WarmView& view) {
  Writer json;
  json.open_object().member("kind", "WarmPool").open_object("metadata").member("name", view.name);
  json.member("namespace", view.tenant).close_object().open_object("status");
  put_warm(json, format, view.status);
  return json.close_object().close_object().take();
}

ApiResult<HttpAnswer> list_warm(const ApiContext& context, const Call& call) {
  const auto page =
      context.session.with([&](const live::Session& session) { return read_warm(session, call.request); });
  return page_response(page, [&](const WarmView& view) { return warm_json(context.format, view); });
}

}  // namespace

void put_warm(Writer& json, const ObjectFormat& format, const WarmStatus& status) {
  json.member("phase", phase_name(status.last.phase)).member("slices", status.last.slices);
  json.member("since", format.epoch.text(status.last.at)).member("reason", status.last.reason);
  const auto& next = status.expected_next;
  json.member("expected_next", next ? std::optional(format.epoch.text(*next)) : std::nullopt);
  json.member("idle_micro_usd", status.idle_micro_usd).member("cold_starts", status.cold_starts);
  json.member("preloads", status.preloads).member("hits", status.hits);
}

std::vector<Route> warm_routes() {
  return {{.method = "GET", .path = "/v1/warm", .answer = list_warm, .takes_query = true}};
}

}  // namespace berth::api
