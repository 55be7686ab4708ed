#include "surface/api/series_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "live/session/series_points.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"
#include "surface/api/service_query.h"
#include "surface/api/time_query.h"

namespace berth::api {
namespace {

using json::Writer;

/// The parsed query, not yet resolved against the session.
struct AskedSeries {
  std::optional<live::ServiceName> service;
  AskedTimes times;
  std::int64_t step = live::kSeriesMinute;
  std::size_t limit = 0;
  std::optional<std::int64_t> after;  ///< the last second of the previous page
};

// ---- the request

std::optional<std::string> find_parameter(const HttpRequest& request, std::string_view name) {
  const auto found = std::ranges::find(request.query, name, &HttpField::name);
  return found == request.query.end() ? std::nullopt : std::optional(found->value);
}

ApiResult<AskedSeries> parse_series(const ApiContext& context, const HttpRequest& request) {
  const auto page = parse_page(request, {"service", "from", "to", "step"});
  if (!page) return tl::unexpected(page.error());
  const auto times = parse_times(context.format.epoch, request);
  if (!times) return tl::unexpected(times.error());
  AskedSeries asked{.service = std::nullopt, .times = *times, .limit = page->limit, .after = std::nullopt};
  if (const auto service = find_parameter(request, "service")) {
    auto name = parse_service_name(*service);
    if (!name) return tl::unexpected(name.error());
    asked.service = std::move(*name);
  }
  if (const auto text = find_parameter(request, "step")) {
    const auto step = parse_count(*text, INT64_MAX);
    if (!step || !live::is_series_step(*step)) {
      return tl::unexpected(bad_query("step", "seconds: a divisor of 60, or a multiple of 60 up to 86400", *text));
    }
    asked.step = *step;
  }
  if (page->after) asked.after = parse_count(*page->after, INT64_MAX).value_or(0);
  return asked;
}

/// Resolves names and times to ids and seconds. Error: there is no such service.
ApiResult<live::AskedPoints> points_of(const live::Session& session, const AskedSeries& asked) {
  live::AskedPoints points{
      .from = asked.times.from.value_or(Instant()).second(), .to = session.now().second() + 1, .step = asked.step};
  if (asked.times.to) points.to = std::min(points.to, (*asked.times.to + Micros::seconds(1) - Micros(1)).second());
  if (asked.after) points.from = std::max(points.from, *asked.after);
  if (!asked.service) return points;
  const auto known = session.catalog().services.find(*asked.service);
  if (known == session.catalog().services.end()) {
    return tl::unexpected(
        ApiError{.status = 404,
                 .code = "not_found",
                 .message = fmt::format("there is no service {}/{}", asked.service->tenant, asked.service->name)});
  }
  points.service = known->second.meta.number;
  return points;
}

/// At most one point more than fits the page.
ApiResult<std::vector<live::SeriesPoint>> read_series(const ApiContext& context, const live::AskedPoints& asked,
                                                      std::size_t limit) {
  std::vector<live::SeriesPoint> points;
  StoreResult<void> read = tl::unexpected(StoreError{StoreFault::kFailed, "none are kept here"});
  if (context.series.read) {
    read = context.series.read([&](SeriesReader& reader) -> StoreResult<void> {
      auto found = live::read_points(reader, asked, limit + 1);
      if (!found) return tl::unexpected(found.error());
      points = std::move(*found);
      return {};
    });
  }
  if (read) return points;
  return tl::unexpected(ApiError{
      .status = 503, .code = "series_unavailable", .message = "series cannot be read: " + read.error().message});
}

// ---- the answer

std::optional<double> percentile_ms(const LatencyBuckets& latencies, int percent) {
  constexpr double kMicrosPerMs = 1000;
  const auto us = percentile_us(latencies, percent);
  return us ? std::optional(*us / kMicrosPerMs) : std::nullopt;
}

/// The members that all points have. Absent figures are unknown.
void put_counts(Writer& json, const std::optional<ServiceFigures>& known) {
  constexpr double kMicrosPerUnit = 1e6;
  if (!known) {
    json.member("seconds", 0);
    for (const char* key : {"requests", "in_time", "late", "dropped", "goodput", "queue_max"})
      json.member(key, nullptr);
    return;
  }
  const ServiceFigures& figures = *known;
  const std::int64_t settled = figures.in_time + figures.late + figures.dropped;
  std::optional<double> goodput;
  if (settled != 0) {
    goodput = static_cast<double>(figures.accuracy_sum_micro) / kMicrosPerUnit / static_cast<double>(settled);
  }
  json.member("seconds", figures.seconds).member("requests", figures.requests).member("in_time", figures.in_time);
  json.member("late", figures.late).member("dropped", figures.dropped).member("goodput", goodput);
  json.member("queue_max", figures.queued_max);
}

void put_fleet(Writer& json, const std::optional<FleetFigures>& fleet, bool knows_load) {
  const auto share = [&](double FleetFigures::* of, bool is_known) {
    const bool has_share = is_known && fleet && fleet->available_us > 0;
    return has_share ? std::optional((*fleet).*of / fleet->available_us) : std::nullopt;
  };
  json.member("allocated", share(&FleetFigures::allocated_us, true));
  json.member("busy", share(&FleetFigures::busy_us, knows_load));
  json.member("effective", share(&FleetFigures::effective_us, knows_load));
  json.member("lost_gpus_max", fleet ? std::optional(fleet->lost_gpus_max) : std::nullopt);
  json.member("cost_micro_usd_per_hour", fleet ? fleet->micro_usd_per_hour : std::nullopt);
}

std::string point_object(const ObjectFormat& format, const live::SeriesPoint& point, bool is_fleet) {
  Writer json;
  json.open_object().member("from", format.epoch.text(Instant::at_second(point.from)));
  json.member("to", format.epoch.text(Instant::at_second(point.to)));
  // A simulated fleet without services gets no requests. What real GPUs do is known only while the load is simulated.
  const bool is_known = point.figures || !format.devices.is_local();
  const ServiceFigures figures = point.figures.value_or(ServiceFigures{.seconds = 0});
  put_counts(json, is_known ? std::optional(figures) : std::nullopt);
  if (is_fleet) {
    put_fleet(json, point.fleet, is_known);
  } else {
    json.member("latency_p50_ms", percentile_ms(figures.latencies, 50));
    json.member("latency_p99_ms", percentile_ms(figures.latencies, 99));
  }
  return json.close_object().take();
}

ApiResult<HttpAnswer> list_series(const ApiContext& context, const Call& call) {
  const auto asked = parse_series(context, call.request);
  if (!asked) return tl::unexpected(asked.error());
  const auto what = context.session.with([&](const live::Session& session) { return points_of(session, *asked); });
  if (!what) return tl::unexpected(what.error());
  auto points = read_series(context, *what, asked->limit);
  if (!points) return tl::unexpected(points.error());
  std::string next;
  if (points->size() > asked->limit) {
    points->resize(asked->limit);
    next = page_token(call.request.path, fmt::format("{}", points->back().to));
  }
  std::vector<std::string> items;
  items.reserve(points->size());
  for (const live::SeriesPoint& each : *points) {
    items.push_back(point_object(context.format, each, !asked->service));
  }
  return json_response(200, list_object(items, next));
}

}  // namespace

std::vector<Route> series_routes() {
  return {{.method = "GET", .path = "/v1/series", .answer = list_series, .takes_query = true}};
}

}  // namespace berth::api
