#include "surface/pages/case_courses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/pages/case_charts.h"
#include "surface/pages/case_report.h"
#include "surface/pages/chart.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using measure::ServiceTimeline;
using study::CaseResult;
using study::CaseStep;

// GPUs over time

/// The mean number of GPUs in each column of whole seconds.
std::vector<double> gpus_by_column(const CaseStep& step, const ColumnPlan& plan) {
  std::vector<double> means;
  means.reserve(plan.columns());
  std::size_t at = 0;
  const auto ends_by = [&](Instant time) { return at + 1 < step.counts.size() && step.counts[at + 1].from <= time; };
  for (std::size_t column = 0; column < plan.columns(); ++column) {
    const Instant begin = Instant::at_second(plan.first(column));
    const Instant end = Instant::at_second(plan.first(column + 1));
    double gpu_us = 0;
    for (Instant from = begin; from < end;) {
      while (ends_by(from)) ++at;
      const bool changes = ends_by(end);
      const Instant until = changes ? step.counts[at + 1].from : end;
      gpu_us += static_cast<double>(step.counts[at].gpus) * static_cast<double>((until - from).count());
      from = until;
    }
    means.push_back(gpu_us / static_cast<double>((end - begin).count()));
  }
  return means;
}

/// The style of a step's line: one for each step, in order.
std::string count_style(const CaseResult& result, const CaseStep& step) {
  return fmt::format("count c{}{}", &step - result.steps.data(), is_ours(step) ? " ours" : "");
}

struct CountLine {
  const CaseStep* step = nullptr;
  std::vector<double> gpus;
};

/// Names and means at the ends of the lines.
std::string count_labels(const CaseResult& result, const ChartFrame& frame, const std::vector<CountLine>& lines,
                         const ChartScale& y) {
  constexpr double kApart = 15;
  std::vector<double> wanted;
  wanted.reserve(lines.size());
  for (const CountLine& line : lines) wanted.push_back(y.at(line.gpus.back()));
  const std::vector<double> at = spread_labels(wanted, kApart, frame.top, frame.bottom);
  std::string svg;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const CaseStep& step = *lines[i].step;
    svg += fmt::format(R"(<path class="{} leader" d="M{} {}L{} {}h10"/><text class="name{}" x="{}" y="{}">{}</text>)"
                       R"(<text class="figure" x="{}" y="{}" text-anchor="end">{:.2f}</text>)",
                       count_style(result, step), position(frame.right), position(wanted[i]),
                       position(frame.right + 14), position(at[i]), is_ours(step) ? " ours" : "",
                       position(frame.right + 29), position(at[i] + 4), html_escaped(case_step_title(step)),
                       position(ChartFrame::kWidth), position(at[i] + 4), step.gpus_mean);
  }
  return svg;
}

// Arrivals and capacity

constexpr double kLaneWidth = 520;
constexpr double kLaneLeft = 44;
constexpr double kLaneRight = kLaneWidth - 6;
constexpr double kCourseLaneHeight = 66;
constexpr double kLaneApart = 92;
constexpr double kCourseLanesTop = 22;
constexpr int kLaneTimesMax = 6;

/// What the strips of a service share.
struct LoadPicture {
  std::uint32_t service = 0;
  ColumnPlan plan;  ///< of bins
  double bin_seconds = 1;
  double most = 1;  ///< requests per second
};

ChartFrame lane_frame(std::size_t lane) {
  const double top = kCourseLanesTop + kLaneApart * static_cast<double>(lane);
  return {.left = kLaneLeft, .right = kLaneRight, .top = top, .bottom = top + kCourseLaneHeight};
}

StepChart lane_chart(const LoadPicture& picture, const ChartFrame& frame) {
  return {.plan = picture.plan,
          .x = {.first = 0,
                .last = static_cast<double>(picture.plan.items),
                .at_first = frame.left,
                .at_last = frame.right},
          .y = value_scale(frame, picture.most)};
}

std::vector<const CaseStep*> steps_with_timeline(const CaseResult& result) {
  std::vector<const CaseStep*> steps;
  for (const CaseStep& step : result.steps) {
    if (!step.infeasible && !step.timeline.services.empty()) steps.push_back(&step);
  }
  return steps;
}

const ServiceTimeline& timeline_of(const CaseStep& step, const LoadPicture& picture) {
  return step.timeline.services[picture.service];
}

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string lane_axis(const ChartFrame& frame, const ChartScale& y) {
  constexpr int kSteps = 2;
  std::string svg;
  for (const double value : round_values(y.first, y.last, kSteps)) {
    svg +=
        fmt::format(R"(<path class="{}" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>)",
                    value == 0 ? "axisline" : "gridline", position(frame.left), position(y.at(value)),
                    position(frame.right), position(frame.left - 6), position(y.at(value) + 4), axis_text(value, ""));
  }
  return svg;
}

/// "mean capacity 2.41 × the mean arrivals".
std::string lane_words(const ServiceTimeline& timeline) {
  const double arrivals = mean_of(timeline.arrivals_per_second);
  const double capacity = mean_of(timeline.capacity_per_second);
  if (arrivals <= 0) return fmt::format("mean capacity {}/s", significant(capacity));
  return fmt::format("mean capacity {}/s, {:.2f} × the arrivals", significant(capacity), capacity / arrivals);
}

std::string lane(const CaseStep& step, const LoadPicture& picture, std::size_t index) {
  const ChartFrame frame = lane_frame(index);
  const StepChart chart = lane_chart(picture, frame);
  const ServiceTimeline& timeline = timeline_of(step, picture);
  const std::vector<double> zero(picture.plan.columns(), 0);
  const std::string title = fmt::format(
      "{}: arrivals {}/s on average, at most {}/s; capacity {}/s, at least {}/s", step.name,
      significant(mean_of(timeline.arrivals_per_second)), significant(std::ranges::max(timeline.arrivals_per_second)),
      significant(mean_of(timeline.capacity_per_second)), significant(std::ranges::min(timeline.capacity_per_second)));
  return fmt::format(R"(<text class="name{}" x="{}" y="{}">{}</text><text x="{}" y="{}" text-anchor="end">{}</text>)",
                     is_ours(step) ? " ours" : "", position(frame.left), position(frame.top - 7),
                     html_escaped(case_step_title(step)), position(frame.right), position(frame.top - 7),
                     lane_words(timeline)) +
         fmt::format("<g><title>{}</title>", html_escaped(title)) +
         step_area(chart, "room", zero, timeline.capacity_per_second) + lane_axis(frame, chart.y) +
         step_line(chart, "arrived", timeline.arrivals_per_second) +
         step_area(chart, "short", timeline.capacity_per_second, timeline.arrivals_per_second) +
         step_line(chart, "edge", timeline.capacity_per_second) + "</g>";
}

LoadPicture load_picture(const std::vector<const CaseStep*>& steps, std::uint32_t service) {
  const measure::Timeline& first = steps.front()->timeline;
  LoadPicture picture{.service = service,
                      .plan = {.items = std::ssize(first.services[service].arrivals_per_second), .per_column = 1},
                      .bin_seconds = first.bin.to_seconds()};
  for (const CaseStep* step : steps) {
    const ServiceTimeline& timeline = timeline_of(*step, picture);
    picture.most = std::max(
        {picture.most, std::ranges::max(timeline.arrivals_per_second), std::ranges::max(timeline.capacity_per_second)});
  }
  return picture;
}

std::string load_figure(const Scenario& scenario, const std::vector<const CaseStep*>& steps, std::uint32_t service) {
  const LoadPicture picture = load_picture(steps, service);
  std::string svg;
  for (std::size_t index = 0; index < steps.size(); ++index) svg += lane(*steps[index], picture, index);
  const ChartFrame last = lane_frame(steps.size() - 1);
  svg += time_axis(last,
                   {.first = 0,
                    .last = static_cast<double>(picture.plan.items) * picture.bin_seconds,
                    .at_first = last.left,
                    .at_last = last.right},
                   kLaneTimesMax);
  const std::string name = html_escaped(service_label(scenario, {service}));
  std::string remark = "requests per second";
  if (picture.bin_seconds > 1) remark += fmt::format("; a column is the mean of {:.6g} s", picture.bin_seconds);
  return fmt::format(
      "<figure><figcaption><b>{}</b><span>{}</span></figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"Arrivals and capacity of {} over time under each step\">{}</svg></figure>\n",
      name, remark, position(kLaneWidth), position(last.bottom + 24), name, svg);
}

}  // namespace

std::string gpu_count_figure(const CaseResult& result) {
  const ChartFrame frame{.left = 34, .right = ChartFrame::kWidth - 200, .top = 12, .bottom = 226, .height = 250};
  const ColumnPlan plan = columns_for(result.simulated_seconds);
  std::vector<CountLine> lines;
  double most = 1;
  for (const CaseStep& step : result.steps) {
    if (step.infeasible || step.counts.empty()) continue;
    lines.push_back({.step = &step, .gpus = gpus_by_column(step, plan)});
    most = std::max(most, std::ranges::max(lines.back().gpus));
  }
  if (lines.empty()) return "";
  const ChartScale x{.first = 0,
                     .last = static_cast<double>(result.simulated_seconds),
                     .at_first = frame.left,
                     .at_last = frame.right};
  const StepChart chart{.plan = plan, .x = x, .y = value_scale(frame, most)};
  const std::vector<double> zero(plan.columns(), 0);
  std::string svg;
  for (const CountLine& line : lines) {
    if (is_ours(*line.step)) svg += step_area(chart, "room", zero, line.gpus);
  }
  svg += value_axis(frame, chart.y, "") + time_axis(frame, x);
  for (const CountLine& line : lines) svg += step_line(chart, count_style(result, *line.step), line.gpus);
  std::string remark = "GPUs; behind each name the mean";
  if (plan.per_column > 1) remark += fmt::format("; a column is the mean of {} s", plan.per_column);
  return chart_figure({.title = "GPUs paid for",
                       .remark = remark,
                       .label = "GPUs paid for over time under each step",
                       .height = frame.height,
                       .svg = svg + count_labels(result, frame, lines, chart.y)});
}

std::string load_figures(const Scenario& scenario, const CaseResult& result) {
  const std::vector<const CaseStep*> steps = steps_with_timeline(result);
  if (steps.empty()) return "<p class=\"note\">No step ran.</p>\n";
  const std::size_t services = steps.front()->timeline.services.size();
  const std::size_t shown = std::min(services, kCaseServicesMax);
  std::string figures = "<div class=\"grid wide\">\n";
  for (std::size_t service = 0; service < shown; ++service) {
    figures += load_figure(scenario, steps, static_cast<std::uint32_t>(service));
  }
  figures += "</div>\n";
  if (shown < services) {
    figures += fmt::format("<p class=\"note\">The first {} of {} services.</p>\n", shown, services);
  }
  return figures;
}

std::string load_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" + key_item(R"(<path class="arrived" d="M0 6H16"/>)", "arrivals") +
         key_item(R"(<rect class="room" width="16" height="12"/><path class="edge" d="M0 .5H16"/>)",
                  "capacity of the slices that serve") +
         key_item(R"(<rect class="short" width="16" height="12"/>)", "arrivals beyond the capacity") + "</ul>";
}

}  // namespace berth::report
