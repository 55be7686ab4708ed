#include "surface/pages/cost_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/pages/calendar_axis.h"
#include "surface/pages/chart.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using ledger::CostOverview;
using ledger::Grains;
using ledger::KindSpan;
using ledger::SpendKind;

/// The frame of the chart of days: marks are above it, months below the axis.
constexpr ChartFrame kBurnFrame{.left = 66, .top = 30, .bottom = 220, .height = 272};
constexpr double kMarkLine = 14;
constexpr double kMonthTop = 246;
constexpr double kMonthHeight = 18;
constexpr ChartFrame kKindFrame{.left = 66, .top = 10, .bottom = 170, .height = 194};

double usd_of(Grains grains) {
  return static_cast<double>(grains) / static_cast<double>(ledger::kGrainsPerMicroUsd) / 1e6;
}

/// Whole days: both charts have the same scale.
struct CostDays {
  std::int32_t first = 0;
  std::int32_t end = 0;

  [[nodiscard]] std::int32_t count() const { return end - first; }
};

CostDays days_of(const CostOverview& overview) {
  return {.first = day_of(overview.when->from_us), .end = day_of(overview.when->to_us - 1) + 1};
}

ChartScale instants(const CostOverview& overview, const ChartFrame& frame) {
  const CostDays days = days_of(overview);
  return {.first = static_cast<double>(days.first * kMicrosPerDay),
          .last = static_cast<double>(days.end * kMicrosPerDay),
          .at_first = frame.left,
          .at_last = frame.right};
}

std::string usd_axis(const ChartFrame& frame, const ChartScale& y) {
  constexpr int kSteps = 4;
  std::string svg;
  for (const double value : round_values(y.first, y.last, kSteps)) {
    svg += fmt::format(R"(<path class="{}" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>)",
                       value == 0 ? "axisline" : "gridline", position(frame.left), position(y.at(value)),
                       position(frame.right), position(frame.left - 6), position(y.at(value) + 4), short_usd(value));
  }
  return svg;
}

// Days

/// A layer of the stack.
struct BurnLayer {
  std::string name;  ///< safe to show
  std::string style;
  std::vector<Grains> by_day;
};

constexpr std::string_view kOthersStyle = "others";
constexpr std::string_view kNobodysStyle = "nobodys";

std::string others_name(std::ptrdiff_t count) {
  return fmt::format("{} other{}", with_separators(count), count == 1 ? "" : "s");
}

/// From the bottom up: tenants with a colour, the others together, and unowned time, as far as they exist.
std::vector<BurnLayer> burn_layers(const CostOverview& overview) {
  const CostDays days = days_of(overview);
  const std::vector<std::string> styles = tenant_styles(overview);
  std::vector<BurnLayer> layers;
  std::vector<std::size_t> layer_of(overview.tenants.size());
  const auto layer_named = [&](const std::string& style, const std::string& name) {
    const auto found = std::ranges::find(layers, style, &BurnLayer::style);
    if (found != layers.end()) return static_cast<std::size_t>(found - layers.begin());
    layers.push_back({.name = name, .style = style, .by_day = {}});
    layers.back().by_day.resize(static_cast<std::size_t>(days.count()), 0);
    return layers.size() - 1;
  };
  for (const bool is_nobodys_turn : {false, true}) {  // unowned time is last
    for (std::size_t i = 0; i < overview.tenants.size(); ++i) {
      const std::string& style = styles[i];
      if ((style == kNobodysStyle) != is_nobodys_turn) continue;
      const std::string name = style == kNobodysStyle  ? "nobody"
                               : style == kOthersStyle ? others_name(std::ranges::count(styles, kOthersStyle))
                                                       : isolated(overview.tenants[i].tenant);
      layer_of[i] = layer_named(style, name);
    }
  }
  for (const ledger::DayCost& cost : overview.days) {
    layers[layer_of[cost.tenant]].by_day[static_cast<std::size_t>(cost.day - days.first)] += cost.grains;
  }
  return layers;
}

/// Up to this many days have a bar each; more are drawn as an area.
constexpr std::int32_t kBarDaysMax = 100;

std::string day_bars(const CostOverview& overview, const std::vector<BurnLayer>& layers, const ChartScale& x,
                     const ChartScale& y) {
  constexpr double kWidestBar = 110;
  constexpr double kBarShare = 0.78;
  const CostDays days = days_of(overview);
  const double day_width = x.at(x.first + static_cast<double>(kMicrosPerDay)) - x.at_first;
  const double width = std::min(kWidestBar, day_width * kBarShare);
  std::string svg;
  for (std::int32_t day = days.first; day < days.end; ++day) {
    const auto at = static_cast<std::size_t>(day - days.first);
    const double left = x.at_first + day_width * (static_cast<double>(at) + 0.5) - width / 2;
    Grains below = 0;
    for (const BurnLayer& layer : layers) {
      const Grains grains = layer.by_day[at];
      if (grains == 0) continue;
      const double bottom = y.at(usd_of(below));
      below += grains;
      const double top = y.at(usd_of(below));
      svg += fmt::format(
          R"(<rect class="burn {}" x="{}" y="{}" width="{}" height="{}"><title>{} {}: {}</title></rect>)", layer.style,
          position(left), position(top), position(width), position(bottom - top), day_words(day),
          html_escaped(layer.name), usd_text(ledger::floor_divide(grains, ledger::kGrainsPerMicroUsd)));
    }
  }
  return svg;
}

/// The dollars per day of a layer, by column.
std::vector<double> column_usd(const ColumnPlan& plan, const std::vector<Grains>& by_day) {
  std::vector<double> usd;
  for (std::size_t column = 0; column < plan.columns(); ++column) {
    Grains sum = 0;
    for (std::int64_t day = plan.first(column); day < plan.first(column + 1); ++day) {
      sum += by_day[static_cast<std::size_t>(day)];
    }
    usd.push_back(usd_of(sum) / static_cast<double>(plan.first(column + 1) - plan.first(column)));
  }
  return usd;
}

std::string day_areas(const std::vector<BurnLayer>& layers, const ColumnPlan& plan, const ChartScale& x,
                      const ChartScale& y) {
  const ChartScale days{
      .first = 0, .last = static_cast<double>(plan.items), .at_first = x.at_first, .at_last = x.at_last};
  const StepChart chart{.plan = plan, .x = days, .y = y};
  std::vector<double> low(plan.columns(), 0);
  std::string svg;
  for (const BurnLayer& layer : layers) {
    std::vector<double> high = column_usd(plan, layer.by_day);
    for (std::size_t i = 0; i < high.size(); ++i) high[i] += low[i];
    svg += step_area(chart, "burn " + layer.style, low, high);
    low = std::move(high);
  }
  return svg;
}

/// The height of the highest column, all layers together.
double burn_most(const std::vector<BurnLayer>& layers, const ColumnPlan& plan) {
  std::vector<double> sums(plan.columns(), 0);
  for (const BurnLayer& layer : layers) {
    const std::vector<double> usd = column_usd(plan, layer.by_day);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += usd[i];
  }
  return std::ranges::max(sums);
}

/// Numbered marks at price changes; those too close to each other share one.
std::string price_marks(const CostOverview& overview, const ChartFrame& frame, const ChartScale& x) {
  constexpr double kApart = 34;
  const auto& changes = overview.price_changes;
  const auto at_of = [&](std::size_t change) { return x.at(static_cast<double>(changes[change].at_us)); };
  std::string svg;
  double drawn = -1;
  for (std::size_t first = 0; first < changes.size();) {
    const double at = at_of(first);
    std::size_t end = first;
    for (; end < changes.size() && at_of(end) < at + kApart; ++end) {
      if (at_of(end) < drawn + 1) continue;  // the same line
      drawn = at_of(end);
      svg += fmt::format(R"(<path class="priceline" d="M{} {}V{}"/>)", position(drawn), position(kMarkLine),
                         position(frame.bottom));
    }
    const std::string text = end - first == 1 ? fmt::format("{}", first + 1) : fmt::format("{}–{}", first + 1, end);
    constexpr double kCharacter = 6.4;
    const double width = 11 + kCharacter * static_cast<double>(text.size() - (end - first == 1 ? 0 : 2));
    const double left = std::min(at - 9, frame.right - width);
    svg += fmt::format(R"(<rect class="pricemark" x="{}" y="{}" width="{}" height="18" rx="9"/>)"
                       R"(<text class="marked" x="{}" y="{}" text-anchor="middle">{}</text>)",
                       position(left), position(kMarkLine - 9), position(width), position(left + width / 2),
                       position(kMarkLine + 4), text);
    first = end;
  }
  return svg;
}

std::string month_state(const CostOverview& overview, Month month) {
  const bool is_closed = overview.last_closed && month <= *overview.last_closed;
  const bool is_corrected =
      std::ranges::find(overview.corrections, month, &ledger::CorrectionSum::of) != overview.corrections.end();
  return !is_closed ? "open" : is_corrected ? "corrected" : "closed";
}

/// Consecutive months.
struct MonthRun {
  Month first;
  Month last;
  std::string state;
};

/// The covered months, each on its own, or, if they would be too narrow, consecutive ones of one state together.
std::vector<MonthRun> month_runs(const CostOverview& overview, const ChartScale& x) {
  constexpr double kNarrow = 16;
  const CostDays days = days_of(overview);
  const double month_width = (x.at_last - x.at_first) * 30 / static_cast<double>(days.count());
  std::vector<MonthRun> runs;
  for (Month month = Month::of(days.first * kMicrosPerDay); month.begin_us() < days.end * kMicrosPerDay;
       month = month.next()) {
    const std::string state = month_state(overview, month);
    if (month_width < kNarrow && !runs.empty() && runs.back().state == state) {
      runs.back().last = month;
    } else {
      runs.push_back({.first = month, .last = month, .state = state});
    }
  }
  return runs;
}

/// The longest of the texts that fits; empty if none does.
std::string run_text(const MonthRun& run, double room) {
  constexpr double kCharacter = 7;
  const std::string state = run.state == "corrected" ? "closed, corrected later" : run.state;
  const std::string months =
      run.first == run.last ? month_words(run.first) : run.first.to_string() + " to " + run.last.to_string();
  for (const std::string& text : {fmt::format("{}: {}", months, state), months, run.first.to_string()}) {
    const bool is_whole = text != run.first.to_string() || run.first == run.last;
    if (is_whole && static_cast<double>(text.size()) * kCharacter < room) return text;
  }
  return "";
}

/// The months below the axis, with their state.
std::string month_lane(const CostOverview& overview, const ChartScale& x) {
  std::string svg;
  for (const MonthRun& run : month_runs(overview, x)) {
    const double left = std::max(x.at_first, x.at(static_cast<double>(run.first.begin_us())));
    const double right = std::min(x.at_last, x.at(static_cast<double>(run.last.end_us())));
    svg += fmt::format(R"(<rect class="month {}" x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>)",
                       run.state, position(left + 0.5), position(kMonthTop), position(std::max(0.5, right - left - 1)),
                       position(kMonthHeight), run.first.to_string(), run.state);
    const std::string text = run_text(run, right - left - 8);
    if (text.empty()) continue;
    svg += fmt::format(R"(<text class="monthname" x="{}" y="{}" text-anchor="middle">{}</text>)",
                       position((left + right) / 2), position(kMonthTop + 13), text);
  }
  return svg;
}

// Kinds

/// The layers from the bottom up.
constexpr std::array kKindOrder = {SpendKind::kUsed, SpendKind::kReconfiguration, SpendKind::kStranded,
                                   SpendKind::kIdle};

double gpu_us_of(const KindSpan& span, SpendKind kind) {
  return static_cast<double>(span.kinds.at(static_cast<std::size_t>(kind)).gpu_us);
}

/// The mean number of GPUs of a kind in each column.
std::vector<double> column_gpus(const ColumnPlan& plan, const std::vector<KindSpan>& spans, SpendKind kind) {
  std::vector<double> gpus;
  for (std::size_t column = 0; column < plan.columns(); ++column) {
    double gpu_us = 0;
    double length_us = 0;
    for (std::int64_t i = plan.first(column); i < plan.first(column + 1); ++i) {
      const KindSpan& span = spans[static_cast<std::size_t>(i)];
      gpu_us += gpu_us_of(span, kind);
      length_us += static_cast<double>(span.when.length_us());
    }
    gpus.push_back(gpu_us / length_us);
  }
  return gpus;
}

std::string kind_style(SpendKind kind) { return "kind " + std::string(name_of(kind)); }

std::string_view kind_words(SpendKind kind) {
  switch (kind) {
    case SpendKind::kUsed:
      return "used";
    case SpendKind::kIdle:
      return "idle: not in use";
    case SpendKind::kStranded:
      return "stranded: free, but no wanted slice fits";
    case SpendKind::kReconfiguration:
      return "reconfiguration";
  }
  return "";
}

/// The scale of spans: the first begins with its hour or day, which may be before the covered time.
ChartScale span_scale(const CostOverview& overview, const ChartScale& x) {
  constexpr std::int64_t kMicrosPerHour = 3'600'000'000;
  const std::int64_t length_us = overview.has_hours ? kMicrosPerHour : kMicrosPerDay;
  const std::int64_t begin_us = overview.when->from_us / length_us * length_us;
  const auto count = std::ssize(overview.spans);
  return {.first = 0,
          .last = static_cast<double>(count),
          .at_first = x.at(static_cast<double>(begin_us)),
          .at_last = x.at(static_cast<double>(begin_us + count * length_us))};
}

std::string legend(const std::string& items) { return "<ul class=\"key\" aria-label=\"Legend\">" + items + "</ul>\n"; }

std::string box_item(const std::string& style, std::string_view text) {
  return key_item(fmt::format(R"(<rect class="{}" x=".5" y=".5" width="15" height="11"/>)", style), text);
}

}  // namespace

std::string short_usd(double usd) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e4, "k"}}};
  const double size = std::abs(usd);
  if (size > 0 && size < 0.001) return size < 1e-6 ? fmt::format("${:.1e}", usd) : fmt::format("${:.6f}", usd);
  for (const auto& [unit, letter] : kUnits) {
    if (size >= unit) return axis_text(usd / (letter == "k" ? 1e3 : unit), "$") + std::string(letter);
  }
  return axis_text(usd, "$");
}

std::vector<std::string> tenant_styles(const CostOverview& overview) {
  std::vector<std::string> styles;
  std::size_t hue = 0;
  for (const ledger::TenantCost& cost : overview.tenants) {
    if (cost.tenant.empty()) {
      styles.emplace_back(kNobodysStyle);
    } else {
      styles.push_back(hue < kTenantHues ? fmt::format("l{}", hue) : std::string(kOthersStyle));
      ++hue;
    }
  }
  return styles;
}

std::string burn_figure(const CostOverview& overview) {
  const std::vector<BurnLayer> layers = burn_layers(overview);
  const ColumnPlan plan = columns_for(days_of(overview).count());
  const ChartScale x = instants(overview, kBurnFrame);
  const ChartScale y = value_scale(kBurnFrame, burn_most(layers, plan));
  const bool has_bars = plan.items <= kBarDaysMax;
  std::string svg =
      usd_axis(kBurnFrame, y) + (has_bars ? day_bars(overview, layers, x, y) : day_areas(layers, plan, x, y)) +
      calendar_axis(kBurnFrame, x, CalendarUnit::kDay) + price_marks(overview, kBurnFrame, x) + month_lane(overview, x);
  std::string remark = "dollars per day";
  if (plan.per_column > 1) remark += fmt::format("; a column is the mean of {} days", plan.per_column);
  return chart_figure({.title = "Cost by day",
                       .remark = remark,
                       .label = "The cost of each day, stacked by tenant",
                       .height = kBurnFrame.height,
                       .svg = svg});
}

std::string burn_key(const CostOverview& overview) {
  std::string items;
  for (const BurnLayer& layer : burn_layers(overview)) {
    const bool is_nobodys = layer.style == kNobodysStyle;
    items += box_item("burn " + layer.style,
                      is_nobodys ? "nobody: idle, stranded and reconfiguration without an owner" : layer.name);
  }
  if (!overview.price_changes.empty()) {
    items += key_item(R"(<rect class="pricemark" x="1" y="0" width="14" height="12" rx="6"/>)", "a price changes");
  }
  items += box_item("month closed", "closed month") + box_item("month open", "open month");
  if (!overview.corrections.empty()) items += box_item("month corrected", "closed month that was corrected later");
  return legend(items);
}

std::string kinds_figure(const CostOverview& overview) {
  const ColumnPlan plan = columns_for(std::ssize(overview.spans));
  const ChartScale x = instants(overview, kKindFrame);
  std::vector<std::vector<double>> tops = {std::vector<double>(plan.columns(), 0)};
  for (const SpendKind kind : kKindOrder) {
    std::vector<double> top = column_gpus(plan, overview.spans, kind);
    for (std::size_t i = 0; i < top.size(); ++i) top[i] += tops.back()[i];
    tops.push_back(std::move(top));
  }
  const StepChart chart{
      .plan = plan, .x = span_scale(overview, x), .y = value_scale(kKindFrame, std::ranges::max(tops.back()))};
  std::string svg = value_axis(kKindFrame, chart.y, "");
  for (std::size_t i = 0; i < kKindOrder.size(); ++i) {
    svg += step_area(chart, kind_style(kKindOrder.at(i)), tops[i], tops[i + 1]);
  }
  svg += step_line(chart, "paid", tops.back());
  svg += calendar_axis(kKindFrame, x, CalendarUnit::kHour);
  const std::string_view unit = overview.has_hours ? "hour" : "day";
  std::string remark = fmt::format("GPUs, the mean of each {}", unit);
  if (plan.per_column > 1) remark = fmt::format("GPUs; a column is the mean of {} {}s", plan.per_column, unit);
  return chart_figure({.title = fmt::format("GPUs by {}", unit),
                       .remark = remark,
                       .label = "GPUs over time: used, in reconfiguration, stranded and idle",
                       .height = kKindFrame.height,
                       .svg = svg});
}

std::string kinds_key() {
  std::string items;
  for (const SpendKind kind : kKindOrder) items += box_item(kind_style(kind), kind_words(kind));
  return legend(items + key_item(R"(<path class="paid" d="M0 6H16"/>)", "paid for"));
}

}  // namespace berth::report
