#include "surface/pages/schedule_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/core/figure_text.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

constexpr std::size_t kScheduleHues = 8;
constexpr std::size_t kTenantPatterns = 3;

constexpr int kDotsWidth = 100;

/// Whether this is a continuation byte of UTF-8.
bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The width of the character with this first byte in bold, in hundredths of the font size; an upper estimate.
int character_width(unsigned char first) {
  constexpr std::string_view kWide = "WMmw@%";
  constexpr std::string_view kNarrow = "ijlI.,:;|'!ftr()[]/- ";
  if (first >= 0xE0 || first < 0x20) return 130;
  if (first >= 0x80) return 85;
  const auto letter = static_cast<char>(first);
  if (kWide.find(letter) != std::string_view::npos) return 112;
  if (kNarrow.find(letter) != std::string_view::npos) return 50;
  return letter >= 'A' && letter <= 'Z' ? 86 : 72;
}

/// "64", "15.6", "1,234".
std::string three_digits(double value) {
  constexpr double kWholeFrom = 100;
  return value < kWholeFrom ? fmt::format("{:.3g}", value) : with_separators(std::llround(value));
}

}  // namespace

ScheduleView schedule_view(const sched::Comparison& comparison) {
  ScheduleView view{.comparison = comparison, .order = {}, .members = {}, .hues = {}};
  view.order.reserve(comparison.results.size());
  for (const bool is_ours : {true, false}) {
    for (std::size_t index = 0; index < comparison.results.size(); ++index) {
      if ((comparison.results[index].policy == sched::Policy::kBerth) == is_ours) view.order.push_back(index);
    }
  }
  for (const sched::PolicyFigures& result : comparison.results) view.seconds = std::max(view.seconds, result.makespan);
  view.hues.resize(view.workload().tenants.size());
  const auto tenants = comparison.courses.front().tenants();
  for (std::size_t place = 0; place < tenants.size(); ++place) {
    if (tenants[place].is_group) continue;
    view.hues[static_cast<std::size_t>(tenants[place].tenant)] = view.members.size();
    view.members.push_back(place);
  }
  view.has_others = comparison.results.front().tenants.size() > view.members.size();
  return view;
}

std::string policy_title(sched::Policy policy) {
  return fmt::format("{}{}", sched::name_of(policy), sched::has_hindsight(policy) ? " *" : "");
}

TenantStyle tenant_style(std::optional<std::size_t> hue) {
  if (!hue) return {.colour = "others", .pattern = std::nullopt};
  TenantStyle style{.colour = fmt::format("t{}", *hue % kScheduleHues), .pattern = std::nullopt};
  if (*hue >= kScheduleHues) style.pattern = fmt::format("p{}", (*hue / kScheduleHues - 1) % kTenantPatterns);
  return style;
}

std::string tenant_swatch(std::optional<std::size_t> hue) {
  const TenantStyle style = tenant_style(hue);
  const auto box = [](std::string_view classes) {
    return fmt::format(R"(<rect class="use {}" width="16" height="12"/>)", classes);
  };
  return box(style.colour) + (style.pattern ? box(*style.pattern) : "");
}

std::string tenant_key(const ScheduleView& view) {
  std::string items;
  const auto tenants = view.comparison.courses.front().tenants();
  for (const std::size_t place : view.members) {
    const sched::FollowedTenant& followed = tenants[place];
    items += key_item(tenant_swatch(view.hues[static_cast<std::size_t>(followed.tenant)]),
                      isolated(view.tenant(followed).name));
  }
  if (view.has_others) items += key_item(tenant_swatch(std::nullopt), "all other tenants");
  return items;
}

StepChart course_chart(const ScheduleView& view, const sched::RunCourse& course, const ChartFrame& frame,
                       const ChartScale& y) {
  return {.plan = {.items = course.end(), .per_column = course.column_seconds()}, .x = time_scale(view, frame), .y = y};
}

ChartScale time_scale(const ScheduleView& view, const ChartFrame& frame) {
  return {.first = 0, .last = static_cast<double>(view.seconds), .at_first = frame.left, .at_last = frame.right};
}

std::vector<double> column_values(const sched::RunCourse& course, const sched::CourseSeries& series) {
  std::vector<double> values(course.columns());
  for (std::size_t column = 0; column < values.size(); ++column) values[column] = course.mean(series, column);
  return values;
}

std::string duration_words(double seconds) {
  constexpr double kMinuteSeconds = 60;
  constexpr double kHourSeconds = 3'600;
  constexpr double kDaySeconds = 86'400;
  if (seconds < 2 * kMinuteSeconds) return three_digits(seconds) + " s";
  if (seconds < 2 * kHourSeconds) return three_digits(seconds / kMinuteSeconds) + " min";
  if (seconds < 2 * kDaySeconds) return three_digits(seconds / kHourSeconds) + " h";
  return three_digits(seconds / kDaySeconds) + " d";
}

std::string short_name(std::string_view name, int width_max) {
  int width = 0;
  std::size_t kept = 0;  // bytes that leave space for the dots
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (is_inside_character(name[at])) continue;
    if (width + kDotsWidth <= width_max) kept = at;
    width += character_width(static_cast<unsigned char>(name[at]));
    if (width > width_max) return html_escaped(isolated(name.substr(0, kept))) + "…";
  }
  return html_escaped(isolated(name));
}

}  // namespace berth::report
