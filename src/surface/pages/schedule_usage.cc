#include "surface/pages/schedule_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using sched::FollowedTenant;
using sched::RunCourse;

// The stack

constexpr double kStackHeight = 230;
constexpr double kBandLabelApart = 15;
constexpr double kMeanBarWidth = 14;
constexpr int kBandNameMax = 1'150;  // of 138 at size 12

/// Round values that are whole numbers of GPUs.
std::vector<double> whole_values(const ChartScale& y, int count_max) {
  std::vector<double> values = round_values(0, y.last, count_max);
  std::erase_if(values, [](double value) { return value != std::floor(value); });
  return values;
}

/// The axis ends at the number of GPUs.
std::string gpu_axis(const ChartFrame& frame, const ChartScale& y) {
  constexpr int kSteps = 4;
  constexpr double kTextApart = 18;
  std::vector<double> values = whole_values(y, kSteps);
  while (values.size() > 1 && y.at(values.back()) - y.at(y.last) < kTextApart) values.pop_back();
  values.push_back(y.last);
  std::string svg;
  for (const double value : values) {
    svg +=
        fmt::format(R"(<path class="{}" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>)",
                    value == 0 ? "axisline" : "gridline", position(frame.left), position(y.at(value)),
                    position(frame.right), position(frame.left - 6), position(y.at(value) + 4), axis_text(value, ""));
  }
  return svg;
}

/// A band of the stack.
struct UsageBand {
  std::string name;  ///< markup
  std::optional<std::size_t> hue;
  std::vector<double> upper;  ///< by column: the sum of this band and all below
  double mean = 0;
};

std::vector<UsageBand> usage_bands(const ScheduleView& view, const RunCourse& course) {
  std::vector<UsageBand> bands;
  std::vector<double> below(course.columns());
  double mean_below = 0;
  for (const std::size_t place : view.members) {
    const FollowedTenant& followed = course.tenants()[place];
    const std::vector<double> values = column_values(course, course.use_of(place));
    for (std::size_t column = 0; column < below.size(); ++column) below[column] += values[column];
    const double mean = course.mean(course.use_of(place));
    mean_below += mean;
    bands.push_back({.name = short_name(view.tenant(followed).name, kBandNameMax),
                     .hue = view.hues[static_cast<std::size_t>(followed.tenant)],
                     .upper = below,
                     .mean = mean});
  }
  if (view.has_others) {
    bands.push_back({.name = "all other tenants",
                     .hue = std::nullopt,
                     .upper = column_values(course, course.used_gpus()),
                     .mean = course.mean(course.used_gpus()) - mean_below});
  }
  return bands;
}

std::string tenant_area(const StepChart& chart, std::optional<std::size_t> hue, const std::vector<double>& upper) {
  const std::vector<double> zero(upper.size(), 0);
  const TenantStyle style = tenant_style(hue);
  std::string svg = step_area(chart, "use " + style.colour, zero, upper);
  if (style.pattern) svg += step_area(chart, "use " + *style.pattern, zero, upper);
  return svg;
}

struct BandLabel {
  std::string name;   ///< markup
  double wanted = 0;  ///< the preferred height
  double mean = 0;
};

/// Names and means from the top down, moved apart.
std::string band_labels(const ChartFrame& frame, double left, std::vector<BandLabel> labels) {
  std::ranges::reverse(labels);
  std::vector<double> wanted;
  wanted.reserve(labels.size());
  for (const BandLabel& label : labels) wanted.push_back(label.wanted);
  const std::vector<double> at = spread_labels(wanted, kBandLabelApart, frame.top + 4, frame.bottom - 4);
  std::string svg;
  for (std::size_t i = 0; i < at.size(); ++i) {
    svg += fmt::format(R"(<path class="tickline" d="M{} {}L{} {}"/><text class="name" x="{}" y="{}">{}</text>)"
                       R"(<text class="figure" x="{}" y="{}" text-anchor="end">{}</text>)",
                       position(left), position(wanted[i]), position(left + 10), position(at[i]), position(left + 14),
                       position(at[i] + 4), labels[i].name, position(ChartFrame::kWidth), position(at[i] + 4),
                       significant(labels[i].mean));
  }
  return svg;
}

/// The means as a bar at the right, with names.
std::string mean_bar(const ChartFrame& frame, const ChartScale& y, const std::vector<UsageBand>& bands, double gpus) {
  const double left = frame.right + 18;
  std::vector<BandLabel> labels;
  labels.reserve(bands.size() + 1);
  double below = 0;
  std::string svg = fmt::format(R"(<rect class="lane" x="{}" y="{}" width="{}" height="{}"/>)", position(left),
                                position(y.at(gpus)), kMeanBarWidth, position(y.at(0) - y.at(gpus)));
  for (const UsageBand& band : bands) {
    const TenantStyle style = tenant_style(band.hue);
    for (const std::string& name : {style.colour, style.pattern.value_or("")}) {
      if (name.empty()) continue;
      svg += fmt::format(R"(<rect class="use {}" x="{}" y="{}" width="{}" height="{}"/>)", name, position(left),
                         position(y.at(below + band.mean)), kMeanBarWidth,
                         position(y.at(below) - y.at(below + band.mean)));
    }
    labels.push_back({.name = band.name, .wanted = y.at(below + band.mean / 2), .mean = band.mean});
    below += band.mean;
  }
  labels.push_back({.name = "held by none", .wanted = y.at((below + gpus) / 2), .mean = gpus - below});
  return svg + band_labels(frame, left + kMeanBarWidth + 2, std::move(labels));
}

std::string column_remark(const RunCourse& course) {
  if (course.column_seconds() == 1) return "";
  return fmt::format("; a column is the mean of {}", duration_words(static_cast<double>(course.column_seconds())));
}

// Shares

constexpr double kShareWidth = 340;
constexpr int kShareTimesMax = 5;
constexpr int kShareValuesMax = 3;

bool has_share(const sched::Tenant& tenant) { return tenant.guaranteed > 0 || tenant.limit.has_value(); }

std::string share_axis(const ChartFrame& frame, const ChartScale& y) {
  std::string svg;
  for (const double value : whole_values(y, kShareValuesMax)) {
    svg +=
        fmt::format(R"(<path class="{}" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>)",
                    value == 0 ? "axisline" : "gridline", position(frame.left), position(y.at(value)),
                    position(frame.right), position(frame.left - 6), position(y.at(value) + 4), axis_text(value, ""));
  }
  return svg;
}

std::string share_line(const ChartFrame& frame, const ChartScale& y, std::string_view style, sched::GpuCount gpus) {
  return fmt::format(R"(<path class="{}" d="M{} {}H{}"/>)", style, position(frame.left),
                     position(y.at(static_cast<double>(gpus))), position(frame.right));
}

/// "mean 9.31 · guaranteed 8 · limit 16".
std::string share_remark(const sched::Tenant& tenant, double mean) {
  std::string text = "mean " + significant(mean);
  if (tenant.guaranteed > 0) text += fmt::format(" · guaranteed {}", with_separators(tenant.guaranteed));
  if (tenant.limit) text += fmt::format(" · limit {}", with_separators(*tenant.limit));
  return text;
}

std::string share_figure(const ScheduleView& view, const RunCourse& course, std::size_t place) {
  const FollowedTenant& followed = course.tenants()[place];
  const sched::Tenant& tenant = view.tenant(followed);
  const std::vector<double> values = column_values(course, course.use_of(place));
  const bool shows_limit = tenant.limit && *tenant.limit <= view.workload().gpus;
  const double most = std::max({std::ranges::max(values), static_cast<double>(tenant.guaranteed),
                                static_cast<double>(shows_limit ? *tenant.limit : 0)});
  const ChartFrame frame{.left = 44, .right = kShareWidth - 4, .top = 8, .bottom = 92, .height = 116};
  const ChartScale y = value_scale(frame, most);
  const StepChart chart = course_chart(view, course, frame, y);
  std::string svg = followed.is_group
                        ? step_area(chart, "use group", std::vector<double>(values.size(), 0), values)
                        : tenant_area(chart, view.hues[static_cast<std::size_t>(followed.tenant)], values);
  svg += share_axis(frame, y) + time_axis(frame, time_scale(view, frame), kShareTimesMax);
  if (tenant.guaranteed > 0) svg += share_line(frame, y, "guarantee", tenant.guaranteed);
  if (shows_limit) svg += share_line(frame, y, "most", *tenant.limit);
  const std::string swatch = followed.is_group ? R"(<rect class="use group" width="16" height="12"/>)"
                                               : tenant_swatch(view.hues[static_cast<std::size_t>(followed.tenant)]);
  return fmt::format(
      "<figure class=\"chart\"><figcaption><b><svg class=\"swatch\" viewBox=\"0 0 16 12\" aria-hidden=\"true\">{}"
      "</svg>{}</b><span>{}</span></figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"GPUs of {} over "
      "time under {}\">{}</svg></figure>\n",
      swatch, name_markup(tenant.name), share_remark(tenant, course.mean(course.use_of(place))), kShareWidth,
      position(frame.height), html_escaped(isolated(tenant.name)), sched::name_of(course.policy()), svg);
}

}  // namespace

std::string usage_figure(const ScheduleView& view, std::size_t index) {
  const RunCourse& course = view.course(index);
  const std::vector<UsageBand> bands = usage_bands(view, course);
  const double plot = std::max(kStackHeight, kBandLabelApart * static_cast<double>(bands.size() + 2));
  const ChartFrame frame{
      .left = 52, .right = ChartFrame::kWidth - 230, .top = 10, .bottom = 10 + plot, .height = 10 + plot + 24};
  const auto gpus = static_cast<double>(view.workload().gpus);
  const ChartScale y{.first = 0, .last = gpus, .at_first = frame.bottom, .at_last = frame.top};
  const StepChart chart = course_chart(view, course, frame, y);
  const double end = chart.x.at(static_cast<double>(course.end()));
  std::string svg = fmt::format(R"(<rect class="lane" x="{}" y="{}" width="{}" height="{}"/>)", position(frame.left),
                                position(y.at(gpus)), position(end - frame.left), position(y.at(0) - y.at(gpus)));
  // From the top down: each area is painted over the previous one, which is visible only above it.
  for (auto band = bands.rbegin(); band != bands.rend(); ++band) svg += tenant_area(chart, band->hue, band->upper);
  svg += gpu_axis(frame, y) + time_axis(frame, chart.x) + mean_bar(frame, y, bands, gpus);
  const double held = course.mean(course.used_gpus()) / gpus;
  return chart_figure(
      {.title = fmt::format("{} holds {:.1f} % of {} until its last finish after {}", policy_title(course.policy()),
                            held * 100, gpus == 1 ? "the GPU" : with_separators(view.workload().gpus) + " GPUs",
                            duration_words(static_cast<double>(course.end()))),
       .remark = "GPUs; at the right the means" + column_remark(course),
       .label = fmt::format("GPUs by tenant over time under {}", sched::name_of(course.policy())),
       .height = frame.height,
       .svg = svg});
}

bool has_shares(const ScheduleView& view) { return std::ranges::any_of(view.workload().tenants, has_share); }

std::string share_figures(const ScheduleView& view, std::size_t index) {
  if (!has_shares(view)) return "";
  const RunCourse& course = view.course(index);
  std::string figures = "<div class=\"grid small\">\n";
  for (std::size_t place = 0; place < course.tenants().size(); ++place) figures += share_figure(view, course, place);
  return figures + "</div>\n";
}

std::string share_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" +
         key_item(R"(<path class="guarantee" d="M0 6H16"/>)", "guaranteed: what lies above is borrowed") +
         key_item(R"(<path class="most" d="M0 6H16"/>)", "limit") + "</ul>";
}

}  // namespace berth::report
