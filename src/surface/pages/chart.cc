#include "surface/pages/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/core/figure_text.h"
#include "base/core/sort_stably.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

/// The smallest 1, 2 or 5 times a power of ten that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

struct TimeUnit {
  double seconds = 1;
  std::string_view name;
};

struct TimeStep {
  double seconds = 1;
  TimeUnit unit;
};

constexpr TimeUnit kSecond = {.seconds = 1, .name = "s"};
constexpr TimeUnit kMinute = {.seconds = 60, .name = "min"};
constexpr TimeUnit kHour = {.seconds = 3600, .name = "h"};
constexpr TimeUnit kDay = {.seconds = 86'400, .name = "d"};

/// The shortest usual step that fits at most `count_max` times into the duration.
TimeStep time_step(double seconds, int count_max) {
  constexpr std::array kUsual = {std::pair(1, kSecond),  std::pair(2, kSecond),  std::pair(5, kSecond),
                                 std::pair(10, kSecond), std::pair(30, kSecond), std::pair(1, kMinute),
                                 std::pair(2, kMinute),  std::pair(5, kMinute),  std::pair(10, kMinute),
                                 std::pair(30, kMinute), std::pair(1, kHour),    std::pair(2, kHour),
                                 std::pair(3, kHour),    std::pair(6, kHour),    std::pair(12, kHour)};
  const double least = seconds / count_max;
  for (const auto& [count, unit] : kUsual) {
    if (count * unit.seconds >= least) return {.seconds = count * unit.seconds, .unit = unit};
  }
  return {.seconds = std::max(1.0, round_step(least / kDay.seconds)) * kDay.seconds, .unit = kDay};
}

/// "5:40 h" if minutes extend over hours, else "30 s", "10 min", "6 h", "2 d".
std::string time_text(double seconds, const TimeStep& step, bool is_long) {
  if (step.unit.name != kMinute.name || !is_long) {
    return fmt::format("{:.6g} {}", seconds / step.unit.seconds, step.unit.name);
  }
  const std::int64_t minutes = std::llround(seconds / kMinute.seconds);
  return fmt::format("{}:{:02} h", minutes / 60, minutes % 60);
}

double edge_at(const StepChart& chart, std::size_t column) {
  return chart.x.at(static_cast<double>(chart.plan.first(column)));
}

/// A run of consecutive columns.
struct Island {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// The outline of an area: along the upper values, back along the lower ones.
std::string island_path(const StepChart& chart, const Island& island, std::span<const double> low,
                        std::span<const double> high) {
  const auto edge = [&](std::size_t column) { return position(edge_at(chart, column)); };
  const auto y = [&](double value) { return position(chart.y.at(value)); };
  std::string path = fmt::format("M{} {}V{}", edge(island.first), y(low[island.first]), y(high[island.first]));
  for (std::size_t column = island.first + 1; column < island.end; ++column) {
    const std::string at = y(high[column]);
    if (at != y(high[column - 1])) path += fmt::format("H{}V{}", edge(column), at);
  }
  path += fmt::format("H{}V{}", edge(island.end), y(low[island.end - 1]));
  for (std::size_t column = island.end - 1; column > island.first; --column) {
    const std::string at = y(low[column - 1]);
    if (at != y(low[column])) path += fmt::format("H{}V{}", edge(column), at);
  }
  return path + "Z";
}

}  // namespace

std::string position(double at) {
  std::string text = fmt::format("{:.1f}", at);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::vector<double> round_values(double first, double last, int count_max) {
  if (first == last) return {first};
  const double step = round_step((last - first) / count_max);
  std::vector<double> values;
  const auto begin = static_cast<std::int64_t>(std::ceil(first / step - 1e-9));
  const auto end = static_cast<std::int64_t>(std::floor(last / step + 1e-9));
  for (std::int64_t i = begin; i <= end; ++i) values.push_back(static_cast<double>(i) * step);
  return values;
}

ChartScale value_scale(const ChartFrame& frame, double most) {
  constexpr int kSteps = 4;
  const double above_zero = most > 0 ? most : 1;
  const double step = round_step(above_zero / kSteps);
  return {
      .first = 0, .last = std::ceil(above_zero / step - 1e-9) * step, .at_first = frame.bottom, .at_last = frame.top};
}

std::string axis_text(double value, std::string_view prefix) {
  const double size = std::abs(value);
  std::string digits = size < 1000 ? fmt::format("{:.6g}", size) : separated(fmt::format("{:.0f}", size));
  return fmt::format("{}{}{}", value < 0 ? "−" : "", prefix, digits);
}

std::string value_axis(const ChartFrame& frame, const ChartScale& y, std::string_view prefix) {
  constexpr int kSteps = 4;
  std::string svg;
  for (const double value : round_values(y.first, y.last, kSteps)) {
    svg += fmt::format(R"(<path class="{}" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>)",
                       value == 0 ? "axisline" : "gridline", position(frame.left), position(y.at(value)),
                       position(frame.right), position(frame.left - 6), position(y.at(value) + 4),
                       axis_text(value, prefix));
  }
  return svg;
}

std::string time_axis(const ChartFrame& frame, const ChartScale& x, int count_max) {
  const TimeStep step = time_step(x.last - x.first, count_max);
  std::string svg;
  const auto first = static_cast<std::int64_t>(std::ceil(x.first / step.seconds - 1e-9));
  const auto last = static_cast<std::int64_t>(std::floor(x.last / step.seconds + 1e-9));
  for (std::int64_t count = first; count <= last; ++count) {
    const double time = static_cast<double>(count) * step.seconds;
    const double at = x.at(time);
    const std::string_view anchor = at > frame.right - 12 ? "end" : "middle";
    svg += fmt::format(R"(<path class="tickline" d="M{} {}v4"/><text x="{}" y="{}" text-anchor="{}">{}</text>)",
                       position(at), position(frame.bottom), position(at), position(frame.bottom + 18), anchor,
                       time_text(time, step, x.last > 2 * kHour.seconds));
  }
  return svg;
}

std::int64_t ColumnPlan::first(std::size_t column) const {
  return std::min(items, static_cast<std::int64_t>(column) * per_column);
}

ColumnPlan columns_for(std::int64_t items) {
  return {.items = items, .per_column = std::max<std::int64_t>(1, (items + kColumnsMax - 1) / kColumnsMax)};
}

std::vector<double> column_means(const ColumnPlan& plan, std::span<const std::int64_t> items) {
  std::vector<double> means;
  means.reserve(plan.columns());
  for (std::size_t column = 0; column < plan.columns(); ++column) {
    const auto first = static_cast<std::size_t>(plan.first(column));
    const auto count = static_cast<std::size_t>(plan.first(column + 1)) - first;
    const auto part = items.subspan(first, count);
    means.push_back(static_cast<double>(std::accumulate(part.begin(), part.end(), std::int64_t{0})) /
                    static_cast<double>(count));
  }
  return means;
}

std::string step_line(const StepChart& chart, std::string_view style, std::span<const double> values) {
  std::string path;
  std::string before;
  for (std::size_t column = 0; column < values.size(); ++column) {
    std::string at = position(chart.y.at(values[column]));
    if (column == 0) path = fmt::format("M{} {}", position(edge_at(chart, 0)), at);
    if (column > 0 && at != before) path += fmt::format("H{}V{}", position(edge_at(chart, column)), at);
    before = std::move(at);
  }
  path += "H" + position(edge_at(chart, values.size()));
  return fmt::format(R"(<path class="{}" d="{}"/>)", style, path);
}

std::string step_area(const StepChart& chart, std::string_view style, std::span<const double> low,
                      std::span<const double> high) {
  std::string path;
  const std::size_t count = high.size();
  for (std::size_t first = 0; first < count;) {
    std::size_t end = first;
    while (end < count && high[end] > low[end]) ++end;
    if (end > first) path += island_path(chart, {.first = first, .end = end}, low, high);
    first = end + 1;
  }
  return fmt::format(R"(<path class="{}" d="{}"/>)", style, path);
}

std::string chart_figure(const ChartFigure& figure) {
  return fmt::format(
      "<figure class=\"chart\"><figcaption><b>{}</b><span>{}</span></figcaption><div class=\"scroll\">"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg></div></figure>\n",
      figure.title, figure.remark, ChartFrame::kWidth, position(figure.height), html_escaped(figure.label), figure.svg);
}

std::string key_item(std::string_view swatch, std::string_view text) {
  return fmt::format(R"(<li><svg class="swatch" viewBox="0 0 16 12" aria-hidden="true">{}</svg>{}</li>)", swatch,
                     html_escaped(text));
}

std::vector<double> spread_labels(std::vector<double> wanted, double apart, double top, double bottom) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_stably(order, [&](std::size_t i) { return wanted[i]; });
  double least = top;
  for (const std::size_t i : order) {
    wanted[i] = std::max(wanted[i], least);
    least = wanted[i] + apart;
  }
  double most = bottom;
  for (std::size_t left = order.size(); left > 0; --left) {
    double& at = wanted[order[left - 1]];
    if (at <= most) break;
    at = most;
    most -= apart;
  }
  return wanted;
}

}  // namespace berth::report
