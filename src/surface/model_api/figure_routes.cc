#include "surface/model_api/figure_routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/clock_text.h"
#include "base/core/text.h"
#include "serving/figures/figure_json.h"
#include "serving/figures/figure_points.h"
#include "serving/figures/metric_families.h"
#include "surface/metrics/metric_text.h"
#include "surface/model_api/model_response.h"

namespace berth::model_api {
namespace {

using serving::AskedFigures;
using serving::FigureService;
using serving::ServeFault;
using serving::ServeResult;

constexpr std::size_t kPointsDefault = 100;
constexpr std::int64_t kPointsMax = 500;
constexpr std::array<std::string_view, 6> kSeriesKeys = {"model", "from", "to", "step", "limit", "continue"};

tl::unexpected<serving::ServeError> bad_parameter(std::string_view name, std::string_view wanted,
                                                  std::string_view found) {
  return serving::refuse(ServeFault::kMalformed,
                         fmt::format("{}: wanted {}, found {}", name, wanted, in_quotes(found)));
}

/// Whether each parameter is known, and given once.
ServeResult<void> check_names(const HttpRequest& request, std::span<const std::string_view> known) {
  for (const HttpField& pair : request.query) {
    if (std::ranges::find(known, pair.name) == known.end()) {
      if (known.empty()) return bad_parameter(pair.name, "no parameters at this path", pair.name);
      return bad_parameter(pair.name, fmt::format("one of {}", fmt::join(known, ", ")), pair.name);
    }
    if (std::ranges::count(request.query, pair.name, &HttpField::name) > 1) {
      return bad_parameter(pair.name, "it once", "it twice");
    }
  }
  return {};
}

const std::string* find_parameter(const HttpRequest& request, std::string_view name) {
  const auto found = std::ranges::find(request.query, name, &HttpField::name);
  return found == request.query.end() ? nullptr : &found->value;
}

/// Microseconds since 1970.
ServeResult<std::optional<std::int64_t>> parse_time(const HttpRequest& request, std::string_view name) {
  const std::string* const text = find_parameter(request, name);
  if (text == nullptr) return std::nullopt;
  const auto at = WorldEpoch{}.parse(*text);
  if (!at) return bad_parameter(name, "a time of RFC 3339 such as 2026-11-22T10:00:00Z", *text);
  return at->micros();
}

/// `from` and `to`, as seconds that contain them.
ServeResult<void> parse_times(const HttpRequest& request, AskedFigures& asked) {
  const auto from = parse_time(request, "from");
  if (!from) return tl::unexpected(from.error());
  const auto to = parse_time(request, "to");
  if (!to) return tl::unexpected(to.error());
  if (*from && *to && **from >= **to) return bad_parameter("to", "a time behind from", *find_parameter(request, "to"));
  if (*from) asked.from = Instant(**from).second();
  if (*to) asked.to = (Instant(**to) + Micros::seconds(1) - Micros(1)).second();
  return {};
}

ServeResult<void> parse_page(const HttpRequest& request, AskedFigures& asked) {
  asked.count_max = kPointsDefault;
  if (const std::string* const text = find_parameter(request, "limit")) {
    const auto limit = parse_count(*text, kPointsMax);
    if (!limit || *limit < 1) return bad_parameter("limit", "a whole number from 1 to 500", *text);
    asked.count_max = static_cast<std::size_t>(*limit);
  }
  if (const std::string* const text = find_parameter(request, "continue")) {
    const auto after = parse_count(*text, INT64_MAX);
    if (!after || *after % asked.step != 0) {
      return bad_parameter("continue", "what the last page of this list gave", *text);
    }
    asked.from = std::max(asked.from.value_or(*after), *after);
  }
  return {};
}

ServeResult<AskedFigures> parse_series(const HttpRequest& request) {
  if (auto named = check_names(request, kSeriesKeys); !named) return tl::unexpected(named.error());
  AskedFigures asked;
  if (const std::string* const model = find_parameter(request, "model")) asked.model = *model;
  if (auto times = parse_times(request, asked); !times) return tl::unexpected(times.error());
  if (const std::string* const text = find_parameter(request, "step")) {
    const auto step = parse_count(*text, INT64_MAX);
    if (!step || !serving::is_figure_step(*step)) {
      return bad_parameter("step", "seconds: a divisor of 60, or a multiple of 60 up to 86400", *text);
    }
    asked.step = *step;
  }
  if (auto page = parse_page(request, asked); !page) return tl::unexpected(page.error());
  return asked;
}

ServeResult<HttpAnswer> series_answer(const FigureService& service, const HttpRequest& request) {
  auto asked = parse_series(request);
  if (!asked) return tl::unexpected(asked.error());
  const std::size_t limit = asked->count_max++;  // one more than fits the page
  auto points = service.series(*asked);
  if (!points) return tl::unexpected(points.error());
  std::optional<std::int64_t> next;
  if (points->size() > limit) {
    next = points->back().from;
    points->pop_back();
  }
  return json_response(serving::series_json(*points, asked->model.has_value(), next));
}

using MoreMetrics = std::function<std::vector<MetricFamily>()>;

HttpAnswer metrics_answer(const FigureService& service, const MoreMetrics& more) {
  std::vector<MetricFamily> families = serving::metric_families(service.counters());
  if (more) std::ranges::move(more(), std::back_inserter(families));
  return HttpResponse{.status = 200,
                      .content_type = std::string(metrics::kMetricTextType),
                      .headers = {},
                      .body = metrics::metric_text(families)};
}

/// A route without parameters.
template <class Answer>
ModelRoute plain_route(std::string path, bool is_public, Answer answer) {
  return {.method = "GET",
          .path = std::move(path),
          .answer = [answer](const ModelCall& call) -> ServeResult<HttpAnswer> {
            if (auto named = check_names(call.request, {}); !named) return tl::unexpected(named.error());
            return answer();
          },
          .is_public = is_public};
}

}  // namespace

std::vector<ModelRoute> figure_routes(const FigureService& service, MoreMetrics more_metrics) {
  std::vector<ModelRoute> routes;
  routes.push_back({.method = "GET", .path = "/berth/v1/series", .answer = [&service](const ModelCall& call) {
                      return series_answer(service, call.request);
                    }});
  routes.push_back(plain_route("/berth/v1/memory", false,
                               [&service] { return json_response(serving::memory_json(service.memory())); }));
  routes.push_back(plain_route("/berth/v1/usage", false,
                               [&service] { return json_response(serving::usage_json(service.usage())); }));
  routes.push_back(plain_route("/berth/v1/times", false,
                               [&service] { return json_response(serving::times_json(service.times())); }));
  // Scrapers of Prometheus may add parameters, which mean nothing here.
  routes.push_back({.method = "GET",
                    .path = "/metrics",
                    .answer = [&service, more = std::move(more_metrics)](
                                  const ModelCall& /*call*/) { return metrics_answer(service, more); },
                    .is_public = true});
  return routes;
}

}  // namespace berth::model_api
