#include "surface/pages/case_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/figure_text.h"
#include "sim/study/case_words.h"
#include "surface/pages/chart.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using study::CaseResult;
using study::CaseStep;

constexpr double kHourUs = 3.6e9;

/// The layout of rows: names on the left, bars from `kCaseBarLeft`, columns of figures on the right.
constexpr double kCaseBarLeft = 178;
constexpr double kRowsTop = 24;
constexpr double kCaseRowHeight = 44;
constexpr double kCaseBarHeight = 24;
constexpr std::size_t kReasonBytesMax = 110;  ///< in a picture; the full text is below the table of the page

double row_top(std::size_t row) { return kRowsTop + kCaseRowHeight * static_cast<double>(row); }
double rows_bottom(const CaseResult& result) { return row_top(result.steps.size()); }

std::string text_at(double x, double y, std::string_view attributes, std::string_view markup) {
  return fmt::format(R"(<text x="{}" y="{}"{}{}>{}</text>)", position(x), position(y), attributes.empty() ? "" : " ",
                     attributes, markup);
}

std::string bar_from(double from, double to, double top, std::string_view style) {
  return fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>)", style, position(from), position(top),
                     position(std::max(0.0, to - from)), position(kCaseBarHeight));
}

/// "62.1 %"; "−3.0 %".
std::string share_saved(std::optional<double> saves) {
  if (!saves) return "–";
  const std::string text = fmt::format("{:.1f} %", std::abs(*saves) * 100);
  return (*saves < 0 && text != "0.0 %" ? "−" : "") + text;
}

/// Truncated between UTF-8 characters.
std::string shortened(std::string text) {
  if (text.size() <= kReasonBytesMax) return text;
  std::size_t end = kReasonBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

/// The name of a row with a line below it, or with the reason why the step is not possible.
std::string row_names(const CaseStep& step, double top, std::string_view below, bool is_warning) {
  std::string svg = text_at(0, top + 10, is_ours(step) ? R"(class="name ours")" : R"(class="name")",
                            html_escaped(case_step_title(step)));
  if (!step.infeasible) return svg + text_at(0, top + 25, is_warning ? R"(class="below")" : "", below);
  return svg + text_at(kCaseBarLeft, top + kCaseBarHeight / 2 + 4, R"(class="below")",
                       "no such step: " + html_escaped(shortened(*step.infeasible)));
}

struct ChartColumn {
  double right = 0;
  std::string_view head;
};

template <std::size_t N>
std::string column_heads(const std::array<ChartColumn, N>& columns) {
  std::string svg;
  for (const ChartColumn& column : columns) svg += text_at(column.right, 11, R"(text-anchor="end")", column.head);
  return svg;
}

/// Vertical lines through the rows at round values, with labels below.
std::string vertical_axis(const ChartScale& x, double bottom, std::string_view prefix, std::string_view unit) {
  constexpr int kSteps = 5;
  std::string svg;
  for (const double value : round_values(x.first, x.last, kSteps)) {
    svg += fmt::format(R"(<path class="{}" d="M{} {}V{}"/>)", value == 0 ? "axisline" : "gridline",
                       position(x.at(value)), position(kRowsTop - 4), position(bottom)) +
           text_at(x.at(value), bottom + 16, R"(text-anchor="middle")",
                   axis_text(value, prefix) + (value == 0 ? "" : std::string(unit)));
  }
  return svg;
}

// The waterfall

constexpr std::array<ChartColumn, 3> kCostColumns = {ChartColumn{.right = 690, .head = "cost"},
                                                     ChartColumn{.right = 818, .head = "saves of whole-peak"},
                                                     ChartColumn{.right = 960, .head = "saves of whole-tracking"}};
constexpr double kCostBarRight = 616;

std::string_view cost_style(const CaseStep& step) { return is_ours(step) ? "cost ours" : "cost"; }

/// "2.41 GPUs, worst service 99.12%".
std::string row_words(const CaseStep& step) {
  std::string words = fmt::format("{:.2f} GPUs", step.gpus_mean);
  if (step.slo_attainment_worst_service) {
    words += fmt::format(" · worst {}{}", step.holds ? "" : "only ",
                         study::floored_share(*step.slo_attainment_worst_service));
  }
  return words;
}

/// The tooltip of a row.
std::string row_title(const CaseStep& step, const CaseStep* before) {
  std::string words = fmt::format("{}: {}, {:.2f} GPUs on average, at most {}", step.name, dollars(step.cost_micro_usd),
                                  step.gpus_mean, with_separators(step.gpus_max));
  if (before != nullptr) {
    const std::int64_t saved = before->cost_micro_usd - step.cost_micro_usd;
    words += fmt::format("; {} {} than {}", dollars(std::abs(saved)), saved < 0 ? "more" : "less", before->name);
  }
  return html_escaped(words + (step.holds ? "" : "; a service does not keep its share in time"));
}

/// Inside the bar of the difference if the text fits, else to its right, or to its left if the columns of figures are
/// in the way.
std::string change_text(double from, double to, double top, std::string_view text) {
  constexpr double kTextWidth = 62;
  const double y = top + kCaseBarHeight / 2 + 4;
  if (to - from >= kTextWidth) return text_at((from + to) / 2, y, R"(class="change" text-anchor="middle")", text);
  if (to + kTextWidth <= kCostBarRight) return text_at(to + 5, y, R"(class="change")", text);
  return text_at(from - 5, y, R"(class="change" text-anchor="end")", text);
}

/// The bar of a step, with the difference from the previous step.
std::string cost_bar(const CaseStep& step, const CaseStep* before, const ChartScale& x, double top) {
  const double own = x.at(static_cast<double>(step.cost_micro_usd));
  if (before == nullptr) return bar_from(kCaseBarLeft, own, top, cost_style(step));
  const double other = x.at(static_cast<double>(before->cost_micro_usd));
  std::string svg = bar_from(kCaseBarLeft, std::min(own, other), top, cost_style(step));
  const std::int64_t change = step.cost_micro_usd - before->cost_micro_usd;
  if (change == 0) return svg;
  svg += bar_from(std::min(own, other), std::max(own, other), top, change < 0 ? "saved" : "more");
  return svg + change_text(std::min(own, other), std::max(own, other), top,
                           (change < 0 ? "−" : "+") + dollars(std::abs(change)));
}

/// A line from the end of a bar down to the next bar's row.
std::string connector(double at, double from_top, double to_top) {
  return fmt::format(R"(<path class="connector" d="M{0} {1}V{2}"/>)", position(at), position(from_top + kCaseBarHeight),
                     position(to_top));
}

std::string cost_figures(const CaseStep& step, double top) {
  const double y = top + kCaseBarHeight / 2 + 4;
  const std::array<std::string, kCostColumns.size()> texts = {
      dollars(step.cost_micro_usd), share_saved(step.saves_of_first), share_saved(step.saves_of_second)};
  std::string svg;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    svg += text_at(kCostColumns[i].right, y,
                   is_ours(step) ? R"(class="name ours" text-anchor="end")" : R"(class="figure" text-anchor="end")",
                   texts[i]);
  }
  return svg;
}

// The funnel

constexpr std::array<ChartColumn, 4> kTimeColumns = {
    ChartColumn{.right = 716, .head = "allocated"}, ChartColumn{.right = 786, .head = "busy"},
    ChartColumn{.right = 856, .head = "effective"}, ChartColumn{.right = 960, .head = "of whole-peak's"}};
constexpr double kTimeBarRight = 640;

std::string time_bars(const CaseStep& step, const ChartScale& x, double top) {
  const auto hours = static_cast<double>(step.gpu_us) / kHourUs;
  const auto layer = [&](std::string_view style, double share) {
    return bar_from(kCaseBarLeft, x.at(hours * std::clamp(share, 0.0, 1.0)), top, style);
  };
  const measure::Utilisation& used = step.utilisation;
  return layer("paid", 1) + layer("f0", used.allocated) + layer("f1", used.busy) + layer("f2", used.effective);
}

std::string time_figures(const CaseStep& step, const CaseStep& first, double top) {
  const measure::Utilisation& used = step.utilisation;
  const auto share = [](double value) { return fmt::format("{:.1f} %", value * 100); };
  const bool is_compared = !first.infeasible && first.utilisation.effective > 0;
  const std::array<std::string, kTimeColumns.size()> texts = {
      share(used.allocated), share(used.busy), share(used.effective),
      is_compared ? fmt::format("{:.2f} ×", used.effective / first.utilisation.effective) : "–"};
  std::string svg;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    svg += text_at(kTimeColumns[i].right, top + kCaseBarHeight / 2 + 4,
                   is_ours(step) ? R"(class="name ours" text-anchor="end")" : R"(class="figure" text-anchor="end")",
                   texts[i]);
  }
  return svg;
}

std::string time_title(const CaseStep& step) {
  const auto hours = static_cast<double>(step.gpu_us) / kHourUs;
  const measure::Utilisation& used = step.utilisation;
  return html_escaped(fmt::format("{}: {} GPU-hours paid for, {} allocated, {} busy, {} effective", step.name,
                                  significant(hours), significant(hours * used.allocated),
                                  significant(hours * used.busy), significant(hours * used.effective)));
}

std::string box(std::string_view style) { return fmt::format(R"(<rect class="{}" width="16" height="12"/>)", style); }

}  // namespace

std::string case_step_title(const CaseStep& step) { return step.name + (step.is_hindsight ? " *" : ""); }

bool is_ours(const CaseStep& step) { return step.name == "scaling"; }

std::string waterfall_figure(const CaseResult& result) {
  std::int64_t most = 1;
  for (const CaseStep& step : result.steps) most = std::max(most, step.cost_micro_usd);
  const ChartScale x{.first = 0, .last = static_cast<double>(most), .at_first = kCaseBarLeft, .at_last = kCostBarRight};
  const ChartScale usd{.first = 0, .last = x.last / 1e6, .at_first = x.at_first, .at_last = x.at_last};
  std::string svg = column_heads(kCostColumns) + vertical_axis(usd, rows_bottom(result), "$", "");
  const CaseStep* before = nullptr;
  double before_top = 0;
  for (std::size_t row = 0; row < result.steps.size(); ++row) {
    const CaseStep& step = result.steps[row];
    const double top = row_top(row);
    svg += row_names(step, top, row_words(step), !step.holds);
    if (step.infeasible) continue;
    if (before != nullptr) {
      svg += connector(x.at(static_cast<double>(before->cost_micro_usd)), before_top, top);
    }
    svg += fmt::format("<g><title>{}</title>{}</g>", row_title(step, before), cost_bar(step, before, x, top)) +
           cost_figures(step, top);
    before = &step;
    before_top = top;
  }
  return chart_figure(
      {.title = "Cost of the run, step by step",
       .remark = "dollars; below each name the mean number of GPUs and the worst service's share in time",
       .label = "The cost of each step, with the difference from the step before it",
       .height = rows_bottom(result) + 22,
       .svg = svg});
}

std::string waterfall_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" + key_item(box("cost ours"), "decides without hindsight") +
         key_item(box("cost"), "* works in hindsight: a yardstick") +
         key_item(box("saved"), "saved, compared with the step above") +
         key_item(box("more"), "more than the step above") + "</ul>";
}

std::string gpu_time_figure(const CaseResult& result) {
  double most = 0;
  for (const CaseStep& step : result.steps) most = std::max(most, static_cast<double>(step.gpu_us) / kHourUs);
  const ChartScale x{.first = 0, .last = most > 0 ? most : 1, .at_first = kCaseBarLeft, .at_last = kTimeBarRight};
  std::string svg = column_heads(kTimeColumns) + vertical_axis(x, rows_bottom(result), "", " h");
  for (std::size_t row = 0; row < result.steps.size(); ++row) {
    const CaseStep& step = result.steps[row];
    const double top = row_top(row);
    svg += row_names(step, top, significant(static_cast<double>(step.gpu_us) / kHourUs) + " GPU-hours", false);
    if (step.infeasible) continue;
    svg += fmt::format("<g><title>{}</title>{}</g>", time_title(step), time_bars(step, x, top)) +
           time_figures(step, result.steps.front(), top);
  }
  return chart_figure({.title = "GPU-time paid for, and what comes of it",
                       .remark = "GPU-hours; to the right, shares of the GPU-time that the step pays for",
                       .label = "GPU-hours of each step: paid for, allocated, busy and effective",
                       .height = rows_bottom(result) + 22,
                       .svg = svg});
}

std::string gpu_time_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" + key_item(box("paid"), "paid for") +
         key_item(box("f0"), "allocated: slices with an owner") +
         key_item(box("f1"), "busy: running a batch or a retraining") +
         key_item(box("f2"), "effective: the answers given, each at the cheapest point that the step has") + "</ul>";
}

}  // namespace berth::report
