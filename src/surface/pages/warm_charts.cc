#include "surface/pages/warm_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "base/core/figure_text.h"
#include "surface/figures/markup.h"
#include "surface/pages/chart.h"

namespace berth::report {
namespace {

/// A policy in the chart.
struct SharePoint {
  const warm::PolicyResult* result = nullptr;
  double idle_minutes = 0;
  double share = 0;  ///< in percent
};

std::vector<SharePoint> share_points(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results,
                                     double warm::ColdShares::* share) {
  std::vector<SharePoint> points;
  for (const warm::PolicyResult& result : results) {
    const auto shares = warm::cold_shares(problem, result);
    if (!shares || !result.idle) continue;
    points.push_back({.result = &result,
                      .idle_minutes = static_cast<double>(result.idle->idle_minutes),
                      .share = std::max(0.0, (*shares).*share)});
  }
  return points;
}

/// The points of ours in order of idle time, joined.
std::string share_curve(std::vector<SharePoint> points, const ChartScale& x, const ChartScale& y) {
  std::erase_if(points, [](const SharePoint& point) { return !point.result->policy.is_ours(); });
  std::ranges::sort(points, {}, &SharePoint::idle_minutes);
  std::string path;
  for (const SharePoint& point : points) {
    fmt::format_to(std::back_inserter(path), "{}{} {}", path.empty() ? "M" : "L", position(x.at(point.idle_minutes)),
                   position(y.at(point.share)));
  }
  return points.size() < 2 ? "" : fmt::format(R"(<path class="curve" d="{}"/>)", path);
}

std::string share_mark(const SharePoint& point, const ChartScale& x, const ChartScale& y) {
  const warm::Policy& policy = point.result->policy;
  const std::string_view style = policy.is_ours() ? " ours" : policy.is_hindsight() ? " known" : "";
  return fmt::format(
      R"(<circle class="point{}" cx="{}" cy="{}" r="{}"><title>{}: {} idle minutes, {:.2f} %</title></circle>)", style,
      position(x.at(point.idle_minutes)), position(y.at(point.share)), policy.is_ours() ? "3" : "4.5", policy.name,
      with_separators(point.result->idle->idle_minutes), point.share);
}

/// The points with names: rivals, and of ours the cheapest and the most expensive price, and `berth`.
bool has_share_label(const SharePoint& point, const std::vector<SharePoint>& points) {
  if (!point.result->policy.is_ours() || point.result->policy.name == "berth") return true;
  const bool has_own =
      std::ranges::any_of(points, [](const SharePoint& each) { return each.result->policy.name == "berth"; });
  return !has_own && point.result == points.back().result;
}

/// Names above or below the points, moved apart where points are close.
std::string share_labels(const std::vector<SharePoint>& points, const ChartScale& x, const ChartScale& y,
                         const ChartFrame& frame) {
  struct PlacedLabel {
    double left;
    double right;
    double at;
  };
  constexpr double kLine = 14;
  constexpr double kLetter = 7;
  std::vector<PlacedLabel> placed;
  std::string svg;
  for (const SharePoint& point : points) {
    if (!has_share_label(point, points)) continue;
    const std::string name = point.result->policy.name + (point.result->policy.is_hindsight() ? " *" : "");
    const double width = kLetter * static_cast<double>(name.size());
    const double left = std::clamp(x.at(point.idle_minutes) - width / 2, frame.left + 4, frame.right - width);
    double at = y.at(point.share) - 9;
    if (at < frame.top + kLine) at = y.at(point.share) + 18;
    const auto is_taken = [&](double line) {
      return std::ranges::any_of(placed, [&](const PlacedLabel& other) {
        return left < other.right + 6 && other.left < left + width + 6 && std::abs(line - other.at) < kLine;
      });
    };
    while (is_taken(at) && at > frame.top + kLine) at -= kLine;
    while (is_taken(at)) at += kLine;
    placed.push_back({.left = left, .right = left + width, .at = at});
    fmt::format_to(std::back_inserter(svg), R"(<text class="name{}" x="{}" y="{}">{}</text>)",
                   point.result->policy.is_ours() ? " ours" : "", position(left), position(at), name);
  }
  return svg;
}

/// Labels of idle minutes below the frame.
std::string idle_minutes_axis(const ChartFrame& frame, const ChartScale& x) {
  std::string svg;
  for (const double value : round_values(x.first, x.last, 8)) {
    fmt::format_to(std::back_inserter(svg), R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)",
                   position(x.at(value)), position(frame.bottom + 16), axis_text(value, ""));
  }
  return svg;
}

std::string warm_share_figure(const std::vector<SharePoint>& points, std::string_view title) {
  const ChartFrame frame{.top = 24, .bottom = 280, .height = 304};
  double idle_max = 1;
  double share_max = 1;
  for (const SharePoint& point : points) {
    idle_max = std::max(idle_max, point.idle_minutes);
    share_max = std::max(share_max, point.share);
  }
  const ChartScale x{.first = 0, .last = idle_max * 1.04, .at_first = frame.left, .at_last = frame.right};
  const ChartScale y = value_scale(frame, share_max);
  std::string svg = value_axis(frame, y, "") + idle_minutes_axis(frame, x) + share_curve(points, x, y);
  for (const SharePoint& point : points) svg += share_mark(point, x, y);
  svg += share_labels(points, x, y, frame);
  return chart_figure({.title = std::string(title),
                       .remark = "percent, against idle minutes; lower left is better",
                       .label = fmt::format("{} of each policy against its idle minutes", title),
                       .height = frame.height,
                       .svg = svg});
}

constexpr double kWarmStripRow = 30;
constexpr std::int64_t kWarmRowMinutes = 480;
constexpr std::size_t kWarmStripRowsMax = 12;

/// One row of the strip: minutes [from, from + kWarmRowMinutes).
class WarmStripRow {
 public:
  WarmStripRow(std::int64_t from, double top, const ChartFrame& frame)
      : from_(from),
        top_(top),
        x_{.first = static_cast<double>(from),
           .last = static_cast<double>(from + kWarmRowMinutes),
           .at_first = frame.left,
           .at_last = frame.right} {}

  [[nodiscard]] std::string loaded(const warm::MinuteSpan& span) const {
    const std::int64_t from = std::max(span.from, from_);
    const std::int64_t to = std::min(span.to, from_ + kWarmRowMinutes);
    return from < to ? bar(from, to, 12) : "";
  }
  [[nodiscard]] std::string call(std::int64_t minute) const {
    return minute < from_ || minute >= from_ + kWarmRowMinutes ? "" : bar(minute, minute + 1, 10, 12);
  }
  [[nodiscard]] std::string label(double right) const {
    return fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", position(right), position(top_ + 22),
                       with_separators(from_));
  }

 private:
  /// `above`: the bottom of the row.
  [[nodiscard]] std::string bar(std::int64_t from, std::int64_t to, double height, double above = 0) const {
    return fmt::format("M{} {}H{}v-{}H{}z", position(x_.at(static_cast<double>(from))), position(top_ + 24 - above),
                       position(x_.at(static_cast<double>(to))), position(height),
                       position(x_.at(static_cast<double>(from))));
  }

  std::int64_t from_;
  double top_;
  ChartScale x_;
};

bool is_in_spans(const std::vector<warm::MinuteSpan>& spans, std::int64_t minute) {
  return std::ranges::any_of(spans,
                             [&](const warm::MinuteSpan& span) { return span.from <= minute && minute < span.to; });
}

}  // namespace

std::string warm_share_figures(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results) {
  const auto points = share_points(problem, results, &warm::ColdShares::p75);
  if (points.empty()) return "";
  return warm_share_figure(points, "Cold share, 75th percentile over apps") +
         warm_share_figure(share_points(problem, results, &warm::ColdShares::avoidable),
                           "Avoidable cold share, mean over apps");
}

std::optional<std::size_t> shown_app(const warm::Problem& problem, const warm::PolicyResult& result) {
  constexpr std::int64_t kLongGap = 5;
  std::optional<std::size_t> shown;
  std::int64_t best = -1;
  for (std::size_t app = 0; app < result.loaded.size(); ++app) {
    const auto& spans = result.loaded[app].spans();
    const auto& invoked = problem.trace->apps[app].invoked;
    if (spans.empty()) continue;
    std::int64_t warm_count = 0;
    for (std::size_t i = 1; i < invoked.size(); ++i) {
      const bool is_long = invoked[i].minute - invoked[i - 1].minute >= kLongGap;
      if (is_long && is_in_spans(spans, invoked[i].minute)) ++warm_count;
    }
    if (warm_count <= best) continue;
    best = warm_count;
    shown = app;
  }
  return shown;
}

std::string warm_strip_figure(const warm::Problem& problem, const warm::PolicyResult& result, std::size_t app) {
  const AppCounts& counts = problem.trace->apps[app];
  const auto& spans = result.loaded[app].spans();
  const auto row_count = std::min<std::size_t>(
      kWarmStripRowsMax, static_cast<std::size_t>((problem.trace->minutes + kWarmRowMinutes - 1) / kWarmRowMinutes));
  ChartFrame frame;
  frame.bottom = frame.top + kWarmStripRow * static_cast<double>(row_count);
  frame.height = frame.bottom + 8;
  std::string loaded;
  std::string calls;
  std::string cold;
  std::string labels;
  for (std::size_t row = 0; row < row_count; ++row) {
    const WarmStripRow strip(static_cast<std::int64_t>(row) * kWarmRowMinutes,
                             frame.top + kWarmStripRow * static_cast<double>(row), frame);
    for (const warm::MinuteSpan& span : spans) loaded += strip.loaded(span);
    for (const InvokedMinute& each : counts.invoked) {
      (is_in_spans(spans, each.minute) ? calls : cold) += strip.call(each.minute);
    }
    labels += strip.label(frame.left - 6);
  }
  return chart_figure(
      {.title = figures::html_escaped(counts.app),
       .remark = fmt::format(
           "{} invocations in {} minutes, {} cold start{} under {}; a row is {} minutes, from the one named",
           with_separators(counts.invocations), with_separators(std::ssize(counts.invoked)),
           with_separators(result.app_cold_starts[app]), result.app_cold_starts[app] == 1 ? "" : "s",
           result.policy.name, kWarmRowMinutes),
       .label = "Minutes in which the app was invoked, and in which it was loaded",
       .height = frame.height,
       .svg = fmt::format(R"(<path class="loaded" d="{}"/><path class="call" d="{}"/><path class="cold" d="{}"/>{})",
                          loaded, calls, cold, labels)});
}

std::string warm_strip_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" +
         key_item(R"(<rect class="loaded" y="5" width="16" height="7"/>)", "loaded (below)") +
         key_item(R"(<rect class="call" x="6" width="3" height="8"/>)", "invoked while loaded (above)") +
         key_item(R"(<rect class="cold" x="6" width="3" height="8"/>)", "invoked while not loaded: a cold start") +
         "</ul>";
}

}  // namespace berth::report
