#include "surface/pages/budget_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "surface/pages/calendar_axis.h"
#include "surface/pages/chart.h"
#include "surface/pages/cost_charts.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using ledger::BudgetStanding;
using ledger::CostOverview;
using ledger::MicroUsd;

constexpr double kSmallWidth = 340;
constexpr ChartFrame kSmallFrame{.left = 4, .right = kSmallWidth - 4, .top = 14, .bottom = 112, .height = 134};

double budget_usd(MicroUsd micro_usd) { return static_cast<double>(micro_usd) / 1e6; }

MicroUsd budget_use(const BudgetStanding& standing) {
  return std::max(standing.spent_micro_usd, standing.forecast_micro_usd);
}

/// The used share of the budget; infinite if the budget is 0.
double share_of_budget(const BudgetStanding& standing) {
  const std::int64_t budget = standing.budget.micro_usd_per_month;
  if (budget == 0) return std::numeric_limits<double>::infinity();
  return budget_usd(budget_use(standing)) / budget_usd(budget);
}

/// The scales of one chart: instants of the month, and dollars.
struct BudgetScales {
  ChartScale x;
  ChartScale y;
};

BudgetScales scales_of(const BudgetStanding& standing, Month month) {
  constexpr double kHeadroom = 1.12;
  const double most = std::max(budget_usd(standing.budget.micro_usd_per_month), budget_usd(budget_use(standing)));
  return {.x = {.first = static_cast<double>(month.begin_us()),
                .last = static_cast<double>(month.end_us()),
                .at_first = kSmallFrame.left,
                .at_last = kSmallFrame.right},
          .y = {.first = 0,
                .last = most > 0 ? most * kHeadroom : 1,
                .at_first = kSmallFrame.bottom,
                .at_last = kSmallFrame.top}};
}

/// The spending by day, up to the given instant.
std::string spent_area(const BudgetStanding& standing, const BudgetScales& scales, Month month, std::int64_t until_us) {
  const auto until = static_cast<double>(until_us);
  std::string path = fmt::format("M{} {}", position(scales.x.at_first), position(scales.y.at_first));
  double end = scales.x.at_first;
  for (std::size_t day = 0; day < standing.spent_by_day.size(); ++day) {
    const auto day_end_us = month.begin_us() + static_cast<std::int64_t>(day + 1) * kMicrosPerDay;
    end = scales.x.at(std::min(until, static_cast<double>(day_end_us)));
    fmt::format_to(std::back_inserter(path), "L{} {}", position(end),
                   position(scales.y.at(budget_usd(standing.spent_by_day[day]))));
  }
  return fmt::format(R"(<path class="spent" d="{}V{}Z"/>)", path, position(kSmallFrame.bottom));
}

std::string forecast_line(const BudgetStanding& standing, const BudgetScales& scales, std::int64_t until_us) {
  const double at = scales.y.at(budget_usd(standing.forecast_micro_usd));
  const std::string_view style = is_tight(standing) ? " over" : "";
  return fmt::format(
      R"(<path class="forecast{}" d="M{} {}L{} {}"/><circle class="forecastend{}" cx="{}" cy="{}" r="3"/>)", style,
      position(scales.x.at(static_cast<double>(until_us))), position(scales.y.at(budget_usd(standing.spent_micro_usd))),
      position(scales.x.at_last), position(at), style, position(scales.x.at_last - 1), position(at));
}

/// The budget itself, and half and four fifths of it.
std::string budget_lines(const BudgetStanding& standing, const BudgetScales& scales) {
  const double budget = budget_usd(standing.budget.micro_usd_per_month);
  std::string svg;
  for (const int percent : ledger::kBudgetPercents) {
    const double at = scales.y.at(budget * percent / 100);
    svg += fmt::format(R"(<path class="{}" d="M{} {}H{}"/>)", percent == 100 ? "budget" : "budgetpart",
                       position(kSmallFrame.left), position(at), position(kSmallFrame.right));
  }
  return svg + fmt::format(R"(<text class="over" x="{}" y="{}">{}</text>)", position(kSmallFrame.left + 2),
                           position(scales.y.at(budget) - 4), short_usd(budget));
}

std::string budget_words(const BudgetStanding& standing) {
  const MicroUsd budget = standing.budget.micro_usd_per_month;
  return fmt::format("<span>spent <b>{}</b> ({})</span><span>forecast <b{}>{}</b> ({})</span>",
                     usd_text(standing.spent_micro_usd), share_text(standing.spent_micro_usd, budget),
                     is_tight(standing) ? " class=\"tight\"" : "", usd_text(standing.forecast_micro_usd),
                     share_text(standing.forecast_micro_usd, budget));
}

std::string budget_figure(const BudgetStanding& standing, Month month, std::int64_t until_us) {
  const BudgetScales scales = scales_of(standing, month);
  const ledger::Budget& budget = standing.budget;
  const std::string svg = fmt::format(R"(<path class="axisline" d="M{} {}H{}"/>)", position(kSmallFrame.left),
                                      position(kSmallFrame.bottom), position(kSmallFrame.right)) +
                          spent_area(standing, scales, month, until_us) + forecast_line(standing, scales, until_us) +
                          budget_lines(standing, scales) + calendar_axis(kSmallFrame, scales.x, CalendarUnit::kDay);
  return fmt::format(
      "<figure class=\"budgetfigure\"><figcaption><b>{}</b><span>{} ({})</span></figcaption>"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg><p>{}</p></figure>\n",
      name_markup(budget.tenant), usd_text(budget.micro_usd_per_month), budget.is_hard ? "hard" : "soft",
      position(kSmallWidth), position(kSmallFrame.height),
      html_escaped("What " + isolated(budget.tenant) + " has spent against its budget"), svg, budget_words(standing));
}

}  // namespace

bool is_tight(const BudgetStanding& standing) { return budget_use(standing) >= standing.budget.micro_usd_per_month; }

std::vector<const BudgetStanding*> budgets_by_use(const CostOverview& overview) {
  std::vector<const BudgetStanding*> order;
  order.reserve(overview.budgets.size());
  for (const BudgetStanding& standing : overview.budgets) order.push_back(&standing);
  std::ranges::sort(order, [](const BudgetStanding* a, const BudgetStanding* b) {
    const double share_a = share_of_budget(*a);
    const double share_b = share_of_budget(*b);
    return share_a != share_b ? share_a > share_b : a->budget.tenant < b->budget.tenant;
  });
  return order;
}

std::string budget_figures(const CostOverview& overview) {
  if (overview.budgets.empty()) return "";
  std::string figures;
  const auto order = budgets_by_use(overview);
  for (std::size_t i = 0; i < std::min(order.size(), kBudgetFiguresMax); ++i) {
    figures += budget_figure(*order[i], overview.budgets_month, overview.budgets_until_us);
  }
  return "<div class=\"grid small\">\n" + figures + "</div>\n";
}

std::string budget_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" +
         key_item(R"(<rect class="spent" width="16" height="12"/>)", "spent so far") +
         key_item(R"(<path class="budget" d="M0 6H16"/>)", "the budget, fine: 50 and 80 %") +
         key_item(R"(<path class="forecast" d="M0 6H16"/>)", "forecast to the month's end") +
         key_item(R"(<path class="forecast over" d="M0 6H16"/>)", "that reaches the budget") + "</ul>\n";
}

}  // namespace berth::report
