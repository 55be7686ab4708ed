#include "surface/pages/place_courses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "surface/pages/chart.h"

namespace berth::report {
namespace {

using placement::CourseBand;
using placement::PolicyRecord;
using placement::StudyPage;
using placement::StudyRecord;

constexpr double kLabelWidth = 150;
constexpr double kLabelApart = 15;
constexpr double kPercentMax = 100;
/// If the demand is below this, the scale ends at the demand.
constexpr double kLowPercent = 60;
constexpr std::size_t kEnlargedColumnsMin = 10;

/// The columns that a chart shows, and its scales.
struct CourseChart {
  ChartFrame frame;
  ChartScale x;
  ChartScale y;
  std::size_t first = 0;
  std::size_t end = 0;
  bool has_labels = true;
};

/// The middle of a column, in percent of demand or in mean stays.
double middle_of(const StudyRecord& record, std::size_t column) {
  const auto at = static_cast<double>(column);
  if (record.axis.is_churning) return (at + 0.5) / static_cast<double>(placement::kColumnsPerStay);
  const auto width = static_cast<double>(record.axis.percent_per_column);
  return at * width + (width - 1) / 2;
}

std::size_t columns_of_all(const StudyRecord& record) {
  std::size_t columns = record.policies.front().course.columns();
  for (const PolicyRecord& policy : record.policies) columns = std::max(columns, policy.course.columns());
  return columns;
}

/// The end of a line; one of a single column extends across the chart.
double end_of(const StudyRecord& record, const CourseChart& chart, std::size_t end) {
  return end == 1 ? chart.frame.right : chart.x.at(middle_of(record, end - 1));
}

/// A path along values of the columns that the policy has.
template <class ValueOf>
std::string course_path(const StudyRecord& record, const CourseChart& chart, std::size_t end, ValueOf value_of) {
  std::string path;
  for (std::size_t column = chart.first; column < end; ++column) {
    fmt::format_to(std::back_inserter(path), "{}{} {}", column == chart.first ? "M" : "L",
                   position(chart.x.at(middle_of(record, column))), position(chart.y.at(value_of(column))));
  }
  if (end == 1) path += "H" + position(end_of(record, chart, end));
  return path;
}

std::string band_path(const StudyRecord& record, const CourseChart& chart, const CourseBand& course, std::size_t end) {
  std::string path = course_path(record, chart, end, [&](std::size_t column) { return course.most(column); });
  for (std::size_t column = end; column > chart.first; --column) {
    fmt::format_to(std::back_inserter(path), "L{} {}", position(chart.x.at(middle_of(record, column - 1))),
                   position(chart.y.at(course.least(column - 1))));
  }
  return path + "Z";
}

std::string course_lines(const StudyRecord& record, const CourseChart& chart) {
  std::string bands;
  std::string lines;
  for (const PolicyRecord& policy : record.policies) {
    const std::size_t end = std::min(chart.end, policy.course.columns());
    if (end <= chart.first) continue;
    const std::string name = policy_class(policy.policy);
    if (policy.course.runs() > 1) {
      bands += fmt::format(R"(<path class="seeds {}" d="{}"/>)", name, band_path(record, chart, policy.course, end));
    }
    lines +=
        fmt::format(R"(<path class="course {}" d="{}"/>)", name,
                    course_path(record, chart, end, [&](std::size_t column) { return policy.course.mean(column); }));
  }
  return fmt::format(R"svg(<g clip-path="url(#inside-{})">{}{}</g>)svg", chart.first, bands, lines);
}

/// The allocation if no request ever failed.
std::string asked_line(const StudyRecord& record, const CourseChart& chart) {
  const double least = std::max(chart.x.first, chart.y.first);  // anything below is outside the chart
  if (record.axis.is_churning || record.asked.rows_with_gpus == 0 || least >= chart.x.last) return "";
  const auto y = [&](double demand) { return position(chart.y.at(std::min(demand, kPercentMax))); };
  std::string path = fmt::format("M{} {}", position(chart.x.at(least)), y(least));
  if (least < kPercentMax && chart.x.last > kPercentMax) {
    path += fmt::format("L{} {}", position(chart.x.at(kPercentMax)), y(kPercentMax));
  }
  path = fmt::format(R"(<path class="asked" d="{}L{} {}"/>)", path, position(chart.frame.right), y(chart.x.last));
  if (!chart.has_labels || chart.x.last <= kPercentMax) return path;
  return path + fmt::format(R"(<text x="{}" y="{}" text-anchor="end">asked for</text>)",
                            position(chart.frame.right - 4),
                            position(chart.y.at(std::min(chart.x.last, kPercentMax)) + 13));
}

/// Names at the ends of the lines, with the allocation there; with departures, with the mean instead.
std::string end_labels(const StudyPage& page, const CourseChart& chart) {
  const StudyRecord& record = page.record;
  std::vector<double> wanted;
  std::vector<std::size_t> labelled;
  for (std::size_t i = 0; i < record.policies.size(); ++i) {
    const CourseBand& course = record.policies[i].course;
    const std::size_t end = std::min(chart.end, course.columns());
    if (end <= chart.first) continue;
    wanted.push_back(chart.y.at(course.mean(end - 1)));
    labelled.push_back(i);
  }
  const std::vector<double> at = spread_labels(wanted, kLabelApart, chart.frame.top + 4, chart.frame.bottom);
  std::string svg;
  for (std::size_t i = 0; i < labelled.size(); ++i) {
    const PolicyRecord& policy = record.policies[labelled[i]];
    const CourseBand& course = policy.course;
    const std::size_t end = std::min(chart.end, course.columns());
    const std::string name = policy_class(policy.policy);
    const auto& mean = page.results[labelled[i]].allocated_churn;
    svg +=
        fmt::format(R"(<path class="leader {}" d="M{} {}L{} {}h8"/><text class="name{}" x="{}" y="{}">{}</text>)"
                    R"(<text class="figure" x="{}" y="{}" text-anchor="end">{:.1f}</text>)",
                    name, position(end_of(record, chart, end)), position(wanted[i]), position(chart.frame.right + 10),
                    position(at[i]), policy.policy == placement::Policy::kBerth ? " ours" : "",
                    position(chart.frame.right + 22), position(at[i] + 4), name_of(policy.policy),
                    position(ChartFrame::kWidth - 4), position(at[i] + 4), mean ? mean->mean : course.mean(end - 1));
  }
  return svg;
}

std::string course_axes(const StudyRecord& record, const CourseChart& chart) {
  constexpr int kRows = 5;
  constexpr int kTicks = 10;
  const ChartFrame& frame = chart.frame;
  std::string svg;
  for (const double value : round_values(chart.y.first, chart.y.last, kRows)) {
    svg += fmt::format(R"(<path class="{}" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">{} %</text>)",
                       value == chart.y.first ? "axisline" : "gridline", position(frame.left),
                       position(chart.y.at(value)), position(frame.right), position(frame.left - 6),
                       position(chart.y.at(value) + 4), axis_text(value, ""));
  }
  for (const double value : round_values(chart.x.first, chart.x.last, kTicks)) {
    svg += fmt::format(R"(<path class="tickline" d="M{} {}v4"/><text x="{}" y="{}" text-anchor="middle">{} {}</text>)",
                       position(chart.x.at(value)), position(frame.bottom), position(chart.x.at(value)),
                       position(frame.bottom + 18), axis_text(value, ""), record.axis.is_churning ? "M" : "%");
  }
  svg += fmt::format(R"(<text class="axisname" x="{}" y="{}" text-anchor="middle">{}</text>)",
                     position((frame.left + frame.right) / 2), position(frame.bottom + 36),
                     record.axis.is_churning ? "arrivals so far, in mean stays M"
                                             : "demand: what all pods so far asked for, in % of the GPUs");
  return svg;
}

/// The arrivals that the mean leaves out.
std::string unmeasured(const StudyRecord& record, const CourseChart& chart) {
  if (!record.axis.is_churning || record.measured_from <= chart.x.first) return "";
  const double right = chart.x.at(std::min(record.measured_from, chart.x.last));
  return fmt::format(R"(<rect class="unmeasured" x="{}" y="{}" width="{}" height="{}"/>)"
                     R"(<text x="{}" y="{}">not in the mean</text>)",
                     position(chart.frame.left), position(chart.frame.top), position(right - chart.frame.left),
                     position(chart.frame.bottom - chart.frame.top), position(chart.frame.left + 6),
                     position(chart.frame.top + 14));
}

struct CourseTitle {
  std::string_view title;
  std::string remark;
};

std::string course_figure(const StudyPage& page, const CourseChart& chart, const CourseTitle& words) {
  const StudyRecord& record = page.record;
  const ChartFrame& frame = chart.frame;
  std::string svg = fmt::format(R"(<clipPath id="inside-{}"><rect x="{}" y="{}" width="{}" height="{}"/></clipPath>)",
                                chart.first, position(frame.left), position(frame.top - 1),
                                position(frame.right - frame.left + 1), position(frame.bottom - frame.top + 1));
  svg += unmeasured(record, chart) + course_axes(record, chart) + asked_line(record, chart) +
         course_lines(record, chart) + (chart.has_labels ? end_labels(page, chart) : "");
  return chart_figure({.title = std::string(words.title),
                       .remark = words.remark,
                       .label = fmt::format("Allocated share of the GPUs, {} {} to {}",
                                            record.axis.is_churning ? "mean stays" : "demand in percent",
                                            axis_text(chart.x.first, ""), axis_text(chart.x.last, "")),
                       .height = frame.height,
                       .svg = svg});
}

/// The origin of a chart, and whether its lines have names; without names its plot area is lower and wider.
struct CourseSpan {
  std::size_t first = 0;
  double least = 0;
  bool has_labels = true;
};

CourseChart chart_of(const StudyRecord& record, const CourseSpan& span) {
  const std::size_t first = span.first;
  const double bottom = span.has_labels ? 330 : 170;
  CourseChart chart{.frame = {.right = ChartFrame::kWidth - (span.has_labels ? kLabelWidth : 24),
                              .top = 12,
                              .bottom = bottom,
                              .height = bottom + 44},
                    .x = {},
                    .y = {},
                    .first = first,
                    .end = columns_of_all(record),
                    .has_labels = span.has_labels};
  const bool is_churning = record.axis.is_churning;
  const auto stays = [](std::size_t column) {
    return static_cast<double>(column) / static_cast<double>(placement::kColumnsPerStay);
  };
  chart.x = {.first = is_churning ? stays(first) : (first == 0 ? 0 : middle_of(record, first)),
             .last = is_churning ? stays(chart.end) : std::max(1.0, middle_of(record, chart.end - 1)),
             .at_first = chart.frame.left,
             .at_last = chart.frame.right};
  chart.y = {.first = span.least, .last = kPercentMax, .at_first = chart.frame.bottom, .at_last = chart.frame.top};
  if (!is_churning && chart.x.last < kLowPercent) chart.y = value_scale(chart.frame, chart.x.last);
  return chart;
}

/// The enlarged part begins at the least allocation at the ends of the lines, rounded down to 5 %, and at the demand
/// that reaches it. With departures: at the least allocation in the measured time, and a mean stay before that time.
CourseSpan enlarged(const StudyRecord& record) {
  constexpr double kRoundPercent = 5;
  const auto stay = static_cast<std::size_t>(placement::kColumnsPerStay);
  const std::size_t unmeasured_columns = record.axis.is_churning ? 2 * stay : 0;
  double least = kPercentMax;
  for (const PolicyRecord& policy : record.policies) {
    const std::size_t columns = policy.course.columns();
    const std::size_t from = record.axis.is_churning ? std::min(unmeasured_columns, columns - 1) : columns - 1;
    for (std::size_t column = from; column < columns; ++column) {
      least = std::min(least, policy.course.least(column));
    }
  }
  least = std::floor(least / kRoundPercent) * kRoundPercent;
  if (record.axis.is_churning) return {.first = columns_of_all(record) > unmeasured_columns ? stay : 0, .least = least};
  return {.first = static_cast<std::size_t>(least / static_cast<double>(record.axis.percent_per_column)),
          .least = least};
}

/// Whether the means of two policies differ by more than 0.1 points in a column that both have.
bool do_part(const StudyRecord& record, std::size_t first) {
  constexpr double kSamePercentPoints = 0.1;
  for (std::size_t column = first; column < columns_of_all(record); ++column) {
    double least = kPercentMax;
    double most = 0;
    for (const PolicyRecord& policy : record.policies) {
      if (column >= policy.course.columns()) continue;
      least = std::min(least, policy.course.mean(column));
      most = std::max(most, policy.course.mean(column));
    }
    if (most - least > kSamePercentPoints) return true;
  }
  return false;
}

std::string_view enlarged_title(const StudyRecord& record, std::size_t first) {
  if (record.axis.is_churning) return "Allocated while pods come and go";
  return do_part(record, first) ? "Where the policies part" : "The end of the run, enlarged";
}

}  // namespace

std::string policy_class(placement::Policy policy) { return fmt::format("place-{}", name_of(policy)); }

std::string course_figures(const StudyPage& page) {
  const StudyRecord& record = page.record;
  const CourseSpan scales = enlarged(record);
  std::string figures;
  if (scales.least > 0 && scales.first > 0 && scales.first + kEnlargedColumnsMin < columns_of_all(record)) {
    figures += course_figure(page, chart_of(record, scales),
                             {.title = enlarged_title(record, scales.first),
                              .remark = fmt::format("allocated, % of the GPUs; enlarged: the scale begins at {} %",
                                                    axis_text(scales.least, ""))});
  }
  const bool is_alone = figures.empty();
  return figures + course_figure(page, chart_of(record, {.has_labels = is_alone}),
                                 {.title = "The whole run, from the empty cluster",
                                  .remark = is_alone ? "allocated, % of the GPUs"
                                                     : "allocated, % of the GPUs; the same lines as above"});
}

}  // namespace berth::report
