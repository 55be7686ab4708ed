#include "surface/pages/scale_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/core/figure_text.h"
#include "purchase/scale/course.h"
#include "surface/pages/chart.h"

namespace berth::report {
namespace {

using scale::Comparison;
using scale::CourseBin;

constexpr double kMissedBase = 248;
constexpr double kMissedHeight = 32;

/// Shared by all charts of a span.
struct ScalePicture {
  ScaleSpan span;
  ColumnPlan plan;
  double per_replica = 1;  ///< requests per second
  double requests_max = 1;
  std::int64_t missed_max = 0;  ///< in a column
};

double per_second(const CourseBin& bin, double sum) { return sum / static_cast<double>(bin.seconds); }

double ready_capacity(const ScalePicture& picture, const CourseBin& bin) {
  return per_second(bin, picture.per_replica * static_cast<double>(bin.ready));
}

double whole_capacity(const ScalePicture& picture, const CourseBin& bin) {
  return per_second(bin, picture.per_replica * static_cast<double>(bin.ready + bin.starting));
}

void widen(ScalePicture& picture, const std::vector<CourseBin>& course) {
  for (const CourseBin& bin : course) {
    picture.requests_max =
        std::max({picture.requests_max, static_cast<double>(bin.arrivals_max), whole_capacity(picture, bin)});
    picture.missed_max = std::max(picture.missed_max, bin.missed);
  }
}

template <class ValueOf>
std::vector<double> values_of(const std::vector<CourseBin>& course, ValueOf value_of) {
  std::vector<double> values;
  values.reserve(course.size());
  for (const CourseBin& bin : course) values.push_back(value_of(bin));
  return values;
}

std::string missed_bars(const ScalePicture& picture, const ChartFrame& frame, const ChartScale& x,
                        const std::vector<CourseBin>& course) {
  std::string svg =
      fmt::format(R"(<path class="axisline" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">missed</text>)",
                  position(frame.left), position(kMissedBase), position(frame.right), position(frame.left - 6),
                  position(kMissedBase));
  if (picture.missed_max == 0) return svg;
  svg += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", position(frame.left - 6),
                     position(kMissedBase - kMissedHeight + 8), with_separators(picture.missed_max));
  std::string path;
  for (std::size_t column = 0; column < course.size(); ++column) {
    if (course[column].missed == 0) continue;
    const double height = std::max(
        1.5, kMissedHeight * static_cast<double>(course[column].missed) / static_cast<double>(picture.missed_max));
    const double first = x.at(static_cast<double>(picture.plan.first(column)));
    const double end = x.at(static_cast<double>(picture.plan.first(column + 1)));
    fmt::format_to(std::back_inserter(path), "M{} {}v-{}H{}v{}z", position(first), position(kMissedBase),
                   position(height), position(std::max(end, first + 1)), position(height));
  }
  return svg + fmt::format(R"(<path class="missed" d="{}"/>)", path);
}

std::string result_remark(const scale::PolicyResult& result, const ScalePicture& picture) {
  const auto in_time = scale::in_time_text(result);
  std::string remark = fmt::format("requests per second; whole run: {} replica-seconds, {} in time",
                                   with_separators(result.run.replica_seconds), in_time.value_or("–"));
  if (picture.plan.per_column > 1) remark += fmt::format("; a column is {} s", picture.plan.per_column);
  return remark;
}

std::string scale_figure(const ScalePicture& picture, const scale::PolicyResult& result,
                         const std::vector<CourseBin>& course) {
  const ChartFrame frame{.height = kMissedBase + 6};
  const ChartScale x{
      .first = 0, .last = static_cast<double>(picture.span.seconds), .at_first = frame.left, .at_last = frame.right};
  const StepChart chart{.plan = picture.plan, .x = x, .y = value_scale(frame, picture.requests_max)};
  const auto zero = values_of(course, [](const CourseBin&) { return 0.0; });
  const auto ready = values_of(course, [&](const CourseBin& bin) { return ready_capacity(picture, bin); });
  const auto whole = values_of(course, [&](const CourseBin& bin) { return whole_capacity(picture, bin); });
  const auto mean =
      values_of(course, [](const CourseBin& bin) { return per_second(bin, static_cast<double>(bin.arrivals)); });
  std::string svg = step_area(chart, "ready", zero, ready) + step_area(chart, "starting", ready, whole) +
                    value_axis(frame, chart.y, "") + step_line(chart, "edge", ready);
  if (picture.plan.per_column > 1) {
    svg += step_line(chart, "highest",
                     values_of(course, [](const CourseBin& bin) { return static_cast<double>(bin.arrivals_max); }));
  }
  svg += step_line(chart, "arriving", mean);
  const auto from = static_cast<double>(picture.span.from_second);
  const ChartScale seconds{.first = from, .last = from + x.last, .at_first = x.at_first, .at_last = x.at_last};
  svg += time_axis(frame, seconds) + missed_bars(picture, frame, x, course);
  return chart_figure(
      {.title = fmt::format("{}{}", scale::name_of(result.policy), scale::is_hindsight(result.policy) ? " *" : ""),
       .remark = result_remark(result, picture),
       .label = fmt::format("Arrivals, capacity and misses over time under {}", scale::name_of(result.policy)),
       .height = frame.height,
       .svg = svg});
}

}  // namespace

std::string scale_figures(const Comparison& comparison, const std::vector<const scale::PolicyResult*>& results,
                          ScaleSpan span) {
  const scale::ReplicaRate& rate = comparison.problem.rate;
  ScalePicture picture{.span = span,
                       .plan = columns_for(span.seconds),
                       .per_replica = static_cast<double>(rate.numerator()) / static_cast<double>(rate.denominator())};
  std::vector<std::vector<CourseBin>> courses;
  for (const scale::PolicyResult* result : results) {
    courses.push_back(scale::course_of(
        comparison.problem, *result,
        {.from_second = span.from_second, .seconds = span.seconds, .bin_seconds = picture.plan.per_column}));
    widen(picture, courses.back());
  }
  std::string figures;
  for (std::size_t i = 0; i < results.size(); ++i) figures += scale_figure(picture, *results[i], courses[i]);
  return figures;
}

std::string scale_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" +
         key_item(R"(<path class="arriving" d="M0 6H16"/>)", "arrivals, mean of a column") +
         key_item(R"(<path class="highest" d="M0 6H16"/>)", "arrivals, highest second of a column") +
         key_item(R"(<rect class="ready" width="16" height="12"/><path class="edge" d="M0 .5H16"/>)",
                  "capacity of ready replicas") +
         key_item(R"(<rect class="starting" width="16" height="12"/>)", "of starting ones, paid too") +
         key_item(R"(<rect class="missed" width="16" height="12"/>)", "missed requests of a column") + "</ul>";
}

}  // namespace berth::report
