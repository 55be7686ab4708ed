#include "surface/pages/commit_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "base/core/sort_stably.h"
#include "purchase/commit/verdict.h"
#include "surface/pages/chart.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using purchase::CommitComparison;
using purchase::CommitPolicy;
using purchase::CommitScore;
using purchase::PlanList;

constexpr double kHourSeconds = 3600;

/// The styles of committed plans; on demand has the warm hue.
std::string_view plan_style(std::size_t plan) {
  constexpr std::array<std::string_view, 6> kStyles = {"plan0", "plan1", "plan2", "plan3", "plan4", "plan5"};
  return kStyles[plan % kStyles.size()];
}

/// Plans by term, longest first: the order in which their units count as used.
std::vector<std::size_t> plans_by_term(const PlanList& plans) {
  std::vector<std::size_t> order(plans.committed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_stably(order, [&](std::size_t plan) { return plans.committed[plan].term_hours; }, std::greater<>());
  return order;
}

/// Units by hour.
struct CoverageLayers {
  std::vector<std::vector<std::int64_t>> used;  ///< of each plan, in the order of `plans_by_term`
  std::vector<std::int64_t> on_demand;
  std::vector<std::int64_t> unused;
};

CoverageLayers layers_of(const CommitComparison& comparison, const CommitScore& score) {
  const purchase::HourlyDemand& demand = comparison.demand;
  const auto active =
      purchase::active_by_plan(comparison.plans, score.coverage, static_cast<std::int64_t>(demand.size()));
  CoverageLayers layers{.used = {}, .on_demand = demand, .unused = std::vector<std::int64_t>(demand.size(), 0)};
  for (const std::size_t plan : plans_by_term(comparison.plans)) {
    layers.used.push_back(active[plan]);
    for (std::size_t hour = 0; hour < demand.size(); ++hour) {
      std::int64_t& used = layers.used.back()[hour];
      const std::int64_t needed = std::min(used, layers.on_demand[hour]);
      layers.unused[hour] += used - needed;
      layers.on_demand[hour] -= needed;
      used = needed;
    }
  }
  return layers;
}

std::vector<double> added(std::vector<double> low, const std::vector<double>& more) {
  for (std::size_t i = 0; i < low.size(); ++i) low[i] += more[i];
  return low;
}

/// The largest number of units in a column of any of the figures, so that all have one scale.
std::int64_t units_most(const CommitComparison& comparison) {
  std::int64_t most = std::ranges::max(comparison.demand);
  const auto with = [&](const CommitScore& score) {
    for (std::int64_t hour = 0; hour < std::ssize(comparison.demand); ++hour) {
      most = std::max(most, score.coverage.active(hour));
    }
  };
  for (const CommitScore& score : comparison.scores) with(score);
  with(comparison.optimal);
  return most;
}

constexpr double kBoughtHeight = 26;
constexpr double kBoughtBase = 244;

/// The units bought at each hour, as bars below the chart.
std::string bought_bars(const CommitComparison& comparison, const CommitScore& score, const ChartFrame& frame,
                        const ChartScale& hours) {
  const auto& purchases = score.coverage.purchases();
  std::string svg =
      fmt::format(R"(<path class="axisline" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">bought</text>)",
                  position(frame.left), position(kBoughtBase), position(frame.right), position(frame.left - 6),
                  position(kBoughtBase));
  if (purchases.empty()) return svg;
  const std::int64_t most = std::ranges::max_element(purchases, {}, &purchase::Purchase::units)->units;
  for (const purchase::Purchase& each : purchases) {
    const double height = std::max(2.0, kBoughtHeight * static_cast<double>(each.units) / static_cast<double>(most));
    svg += fmt::format(R"(<path class="bought {}" d="M{} {}v-{}"><title>hour {}: {} of {}</title></path>)",
                       plan_style(each.plan), position(hours.at(static_cast<double>(each.hour))), position(kBoughtBase),
                       position(height), with_separators(each.hour), with_separators(each.units),
                       html_escaped(comparison.plans.committed[each.plan].name));
  }
  return svg;
}

std::string commit_title(const CommitScore& score) {
  return fmt::format("{}{}", purchase::name_of(score.policy), purchase::has_hindsight(score.policy) ? " *" : "");
}

// Cost above the optimum

struct ExcessLine {
  const CommitScore* score = nullptr;
  std::vector<double> usd;  ///< at the end of each column, starting from 0
};

/// Sums are exact, in micro-dollars; only positions are doubles.
ExcessLine excess_of(const CommitComparison& comparison, const CommitScore& score,
                     const std::vector<std::int64_t>& least, const ColumnPlan& plan) {
  const auto cost = purchase::hourly_micro_usd(comparison.demand, comparison.plans, score.coverage);
  ExcessLine line{.score = &score, .usd = {0}};
  std::int64_t excess = 0;
  for (std::size_t column = 0; column < plan.columns(); ++column) {
    for (std::int64_t hour = plan.first(column); hour < plan.first(column + 1); ++hour) {
      const auto at = static_cast<std::size_t>(hour);
      excess += cost[at] - least[at];
    }
    line.usd.push_back(static_cast<double>(excess) / 1e6);
  }
  return line;
}

std::string excess_style(CommitPolicy policy) {
  return policy == CommitPolicy::kBerth ? "excess ours" : fmt::format("excess line{}", static_cast<int>(policy));
}

std::string excess_path(const ExcessLine& line, const ColumnPlan& plan, const ChartScale& x, const ChartScale& y) {
  std::string path;
  for (std::size_t column = 0; column < line.usd.size(); ++column) {
    fmt::format_to(std::back_inserter(path), "{}{} {}", column == 0 ? "M" : "L",
                   position(x.at(static_cast<double>(plan.first(column)) * kHourSeconds)),
                   position(y.at(line.usd[column])));
  }
  return fmt::format(R"(<path class="{}" d="{}"/>)", excess_style(line.score->policy), path);
}

ChartScale excess_scale(const ChartFrame& frame, const std::vector<ExcessLine>& lines) {
  double least = 0;
  double most = 0;
  for (const ExcessLine& line : lines) {
    least = std::min(least, std::ranges::min(line.usd));
    most = std::max(most, std::ranges::max(line.usd));
  }
  if (most <= least) most = least + 1;
  return {.first = least, .last = most, .at_first = frame.bottom, .at_last = frame.top};
}

/// Names and final figures at the ends of the lines.
std::string end_labels(const ChartFrame& frame, const std::vector<ExcessLine>& lines, const ChartScale& y) {
  constexpr double kApart = 14;
  std::vector<double> wanted;
  wanted.reserve(lines.size());
  for (const ExcessLine& line : lines) wanted.push_back(y.at(line.usd.back()));
  const std::vector<double> at = spread_labels(wanted, kApart, frame.top, frame.bottom);
  std::string svg;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const CommitPolicy policy = lines[i].score->policy;
    const double usd = lines[i].usd.back();
    svg += fmt::format(R"(<path class="{} leader" d="M{} {}L{} {}"/><text class="name{}" x="{}" y="{}">{}</text>)"
                       R"(<text x="{}" y="{}" text-anchor="end">{}</text>)",
                       excess_style(policy), position(frame.right), position(wanted[i]), position(frame.right + 18),
                       position(at[i]), policy == CommitPolicy::kBerth ? " ours" : "", position(frame.right + 22),
                       position(at[i] + 4), commit_title(*lines[i].score), ChartFrame::kWidth, position(at[i] + 4),
                       (usd > 0 ? "+" : "") + axis_text(usd, "$"));
  }
  return svg;
}

std::string excess_figure(const std::vector<ExcessLine>& lines, const ColumnPlan& plan, std::string_view title) {
  const ChartFrame frame{.left = 66, .right = ChartFrame::kWidth - 200, .top = 12, .bottom = 206, .height = 230};
  const ChartScale x{.first = 0,
                     .last = static_cast<double>(plan.items) * kHourSeconds,
                     .at_first = frame.left,
                     .at_last = frame.right};
  const ChartScale y = excess_scale(frame, lines);
  std::string svg = value_axis(frame, y, "$") + time_axis(frame, x);
  for (const ExcessLine& line : lines) svg += excess_path(line, plan, x, y);
  svg += end_labels(frame, lines, y);
  return chart_figure({.title = std::string(title),
                       .remark = "cost so far, less that of the optimum; below zero: less was paid until then",
                       .label = "Cumulative cost of each policy less that of the optimum",
                       .height = frame.height,
                       .svg = svg});
}

/// The lines that are close together in the picture of all: those within a quarter of its height.
std::vector<ExcessLine> close_lines(const std::vector<ExcessLine>& lines) {
  constexpr double kShare = 0.25;
  const auto highest = [](const ExcessLine& line) { return std::ranges::max(line.usd); };
  double most = 0;
  for (const ExcessLine& line : lines) most = std::max(most, highest(line));
  std::vector<ExcessLine> close;
  std::ranges::copy_if(lines, std::back_inserter(close),
                       [&](const ExcessLine& line) { return highest(line) <= kShare * most; });
  return close;
}

}  // namespace

std::string coverage_figure(const CommitComparison& comparison, const CommitScore& score) {
  const ChartFrame frame{.height = kBoughtBase + 8};
  const ColumnPlan plan = columns_for(std::ssize(comparison.demand));
  const auto hours = static_cast<double>(plan.items);
  const ChartScale x{.first = 0, .last = hours, .at_first = frame.left, .at_last = frame.right};
  const StepChart chart{.plan = plan, .x = x, .y = value_scale(frame, static_cast<double>(units_most(comparison)))};
  const CoverageLayers layers = layers_of(comparison, score);
  const std::vector<std::size_t> order = plans_by_term(comparison.plans);
  std::string svg = value_axis(frame, chart.y, "");
  std::vector<double> low(plan.columns(), 0);
  const auto stack = [&](std::string_view style, const std::vector<std::int64_t>& units) {
    std::vector<double> high = added(low, column_means(plan, units));
    svg += step_area(chart, style, low, high);
    low = std::move(high);
  };
  for (std::size_t i = 0; i < order.size(); ++i) stack(fmt::format("area {}", plan_style(order[i])), layers.used[i]);
  stack("area demand", layers.on_demand);
  const std::vector<double> demand = low;
  stack("area unused", layers.unused);
  svg += step_line(chart, "needed", demand);
  const ChartScale seconds{.first = 0, .last = hours * kHourSeconds, .at_first = x.at_first, .at_last = x.at_last};
  svg += time_axis(frame, seconds) + bought_bars(comparison, score, frame, x);
  std::string remark = fmt::format("units; {}, {} unit-hours unused", dollars(score.cost.micro_usd),
                                   with_separators(score.cost.unused_unit_hours));
  if (plan.per_column > 1) remark += fmt::format("; a column is the mean of {} hours", plan.per_column);
  return chart_figure(
      {.title = commit_title(score),
       .remark = remark,
       .label = fmt::format("Demand over time and what covers it under {}", purchase::name_of(score.policy)),
       .height = frame.height,
       .svg = svg});
}

std::string coverage_key(const PlanList& plans) {
  const auto area = [](std::string_view style) {
    return fmt::format(R"(<rect class="area {}" width="16" height="12"/>)", style);
  };
  std::string items;
  for (const std::size_t plan : plans_by_term(plans)) {
    const purchase::CommitPlan& each = plans.committed[plan];
    items += key_item(area(plan_style(plan)), fmt::format("{}, {} h", each.name, with_separators(each.term_hours)));
  }
  items += key_item(area("demand"), plans.on_demand_name);
  items += key_item(area("unused"), "paid for, not used");
  items += key_item(R"(<path class="needed" d="M0 6H16"/>)", "demand");
  return "<ul class=\"key\" aria-label=\"Legend\">" + items + "</ul>";
}

std::string excess_figures(const CommitComparison& comparison) {
  const ColumnPlan plan = columns_for(std::ssize(comparison.demand));
  const auto least = purchase::hourly_micro_usd(comparison.demand, comparison.plans, comparison.optimal.coverage);
  std::vector<ExcessLine> lines = {excess_of(comparison, comparison.optimal, least, plan)};
  for (const CommitScore& score : comparison.scores) {
    if (score.policy != CommitPolicy::kOptimal) lines.push_back(excess_of(comparison, score, least, plan));
  }
  std::string figures = excess_figure(lines, plan, "All policies");
  const std::vector<ExcessLine> close = close_lines(lines);
  if (close.size() > 2 && close.size() < lines.size()) figures += excess_figure(close, plan, "The closest ones");
  return figures;
}

}  // namespace berth::report
