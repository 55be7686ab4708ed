#include "surface/api/calibration_routes.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "live/session/forecast_book.h"
#include "live/session/promise_book.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/speed_estimator.h"
#include "surface/api/api_context.h"
#include "surface/api/objects.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

using json::Writer;

/// A place of a service: what plans count on, and what was measured lately.
struct PlaceView {
  std::string gpu;
  std::string profile;
  double in_force = 1;
  std::optional<SpeedFactor> recorded = std::nullopt;
  std::optional<live::SpeedEstimate> measured = std::nullopt;
};

struct CalibrationView {
  std::string tenant;
  std::string name;
  std::vector<PlaceView> places = {};
  live::ForecastSums forecasts = {};
  bool is_off = false;
};

/// A page of services, and the promises of the last day.
struct CalibrationPage {
  Page<CalibrationView> page;
  live::PromiseSums promises;
  Instant now;
};

CalibrationView view_of(const live::Session& session, const live::ServiceName& name, ServiceId service) {
  const SpeedFactors& speeds = session.scenario().speeds;
  std::map<SpeedPlace, PlaceView> places;
  for (const auto& [place, speed] : speeds) {
    if (place.service == service) places[place].recorded = speed;
  }
  for (const SpeedPlace& place : session.measured_speeds().places()) {
    if (place.service == service) places[place].measured = session.measured_speeds().estimate_of(place);
  }
  CalibrationView view{.tenant = name.tenant, .name = name.name};
  view.forecasts = session.forecasts().recent(service);
  view.is_off = session.forecasts().is_off(service);
  for (auto& [place, shown] : places) {
    shown.gpu = place.gpu;
    shown.profile = place.profile;
    shown.in_force = speed_in_force(speeds, place).to_double();
    view.places.push_back(std::move(shown));
  }
  return view;
}

ApiResult<CalibrationPage> read_calibration(const live::Session& session, const HttpRequest& request) {
  const auto& services = session.catalog().services;
  std::vector<std::pair<live::ServiceName, ServiceId>> listed;
  listed.reserve(services.size());
  for (const auto& [name, entry] : services) listed.emplace_back(name, entry.id);
  const ListKeys keys{.count = listed.size(),
                      .key = [&](std::size_t i) { return listed[i].first.tenant + '\0' + listed[i].first.name; }};
  auto page =
      read_page(request, keys, [&](std::size_t i) { return view_of(session, listed[i].first, listed[i].second); });
  if (!page) return tl::unexpected(page.error());
  return CalibrationPage{.page = std::move(*page),
                         .promises = session.promises().sums(session.now(), Micros::seconds(86'400)),
                         .now = session.now()};
}

std::string place_json(const PlaceView& place, const ObjectFormat& format, Instant now) {
  Writer json;
  json.open_object().member("gpu_model", place.gpu).member("profile", place.profile);
  json.member("factor", place.in_force);
  const auto& recorded = place.recorded;
  json.member("recorded", recorded ? std::optional(recorded->factor.to_double()) : std::nullopt);
  json.member("used", recorded ? std::optional(recorded->is_used) : std::nullopt);
  json.member("recorded_at", recorded ? std::optional(format.epoch.text(recorded->at)) : std::nullopt);
  json.member("age_seconds", recorded ? std::optional((now - recorded->at).to_seconds()) : std::nullopt);
  json.member("measured", place.measured ? std::optional(place.measured->factor) : std::nullopt);
  json.member("batches", place.measured ? std::optional(place.measured->batches) : std::nullopt);
  return json.close_object().take();
}

/// Null if none was judged.
std::optional<double> share_of(double inside, std::int64_t judged) {
  return judged > 0 ? std::optional(inside / static_cast<double>(judged)) : std::nullopt;
}

std::string calibration_json(const ObjectFormat& format, const CalibrationView& view, Instant now) {
  Writer json;
  json.open_object().member("kind", "Calibration").open_object("metadata").member("name", view.name);
  json.member("namespace", view.tenant).close_object().open_object("status");
  json.open_list("speeds");
  for (const PlaceView& place : view.places) json.written(place_json(place, format, now));
  json.close_list().open_object("forecasts").member("judged", view.forecasts.judged);
  json.member("inside_80", share_of(view.forecasts.inside_80, view.forecasts.judged));
  json.member("inside_95", share_of(view.forecasts.inside_95, view.forecasts.judged));
  json.member("off", view.is_off).close_object();
  return json.close_object().close_object().take();
}

ApiResult<HttpAnswer> get_calibration(const ApiContext& context, const Call& call) {
  const auto view = context.session.with([&](const live::Session& session) -> ApiResult<CalibrationPage> {
    return read_calibration(session, call.request);
  });
  if (!view) return tl::unexpected(view.error());
  std::vector<std::string> items;
  items.reserve(view->page.items.size());
  for (const CalibrationView& item : view->page.items)
    items.push_back(calibration_json(context.format, item, view->now));
  const live::PromiseSums& sums = view->promises;
  Writer json;
  put_list(json.open_object(), items, view->page.next);
  json.open_object("promises").member("changes", sums.changes).member("promised", sums.promised);
  json.member("achieved", sums.achieved);
  json.member("share", sums.promised > 0 ? std::optional(sums.achieved / sums.promised) : std::nullopt).close_object();
  return json_response(200, json.close_object().take());
}

}  // namespace

std::vector<Route> calibration_routes() {
  return {{.method = "GET", .path = "/v1/calibration", .answer = get_calibration, .takes_query = true}};
}

}  // namespace berth::api
