#include "surface/pages/cost_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "base/core/sort_stably.h"
#include "surface/pages/budget_charts.h"
#include "surface/pages/chart.h"
#include "surface/pages/cost_charts.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char cost_html_begin[];
extern const char cost_html_end[];
}

namespace berth::report {
namespace {

using ledger::Amount;
using ledger::BudgetStanding;
using ledger::CostOverview;
using ledger::MicroUsd;
using ledger::SpendKind;
using ledger::TenantCost;

constexpr int kHourDecimalsShown = 2;

MicroUsd micro_usd_of(const Amount& amount) { return ledger::floor_divide(amount.grains, ledger::kGrainsPerMicroUsd); }

const Amount& amount_of(const TenantCost& cost, SpendKind kind) {
  return cost.kinds.at(static_cast<std::size_t>(kind));
}

Amount kind_total(const CostOverview& overview, SpendKind kind) {
  Amount sum;
  for (const TenantCost& cost : overview.tenants) sum += amount_of(cost, kind);
  return sum;
}

std::string text_column(std::string_view label, std::string_view markup) {
  return fmt::format(R"(<td class="text" data-label="{}">{}</td>)", label, markup);
}

/// `text_count` columns after the first hold text; the others hold numbers.
std::string cost_table_of(const std::vector<std::string_view>& names, std::size_t text_count, const std::string& rows) {
  std::string head;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_text = i > 0 && i <= text_count;
    head += is_text ? fmt::format(R"(<th scope="col" class="text">{}</th>)", names[i]) : column_head(names[i]);
  }
  return fmt::format("<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
                     head, rows);
}

std::string cost_section(std::string_view id, std::string_view title, std::string_view lead,
                         const std::string& content) {
  return fmt::format(
      "<section aria-labelledby=\"h-{}\">\n<h2 id=\"h-{}\">{}</h2>\n<p class=\"lead\">{}</p>\n{}</section>\n", id, id,
      title, lead, content);
}

/// "A figure <small>12.3 %</small>".
std::string with_share(const std::string& text, Int128 part, Int128 whole) {
  return fmt::format("{} <small>{}</small>", text, share_text(part, whole));
}

double width_of(Int128 part, Int128 whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// The swatch of a layer, shown before its name.
std::string row_swatch(std::string_view style) {
  return fmt::format(R"(<svg class="swatch" viewBox="0 0 16 12" aria-hidden="true">)"
                     R"(<rect class="{}" x=".5" y=".5" width="15" height="11"/></svg> )",
                     style);
}

// Tenants

std::string tenant_row(const CostOverview& overview, std::string_view style, const std::string& name,
                       const TenantCost& cost) {
  const Amount& used = amount_of(cost, SpendKind::kUsed);
  const Amount total = cost.total();
  Amount unused = total;
  unused -= used;
  const std::string swatch = row_swatch(fmt::format("burn {}", style));
  const bool is_all = style.empty();
  return fmt::format(R"(<tr{}><th scope="row">{}{}</th>)", is_all ? R"( class="all")" : "", is_all ? "" : swatch,
                     name) +
         table_cell("Used, GPU-hours", gpu_hours_text(used.gpu_us, kHourDecimalsShown)) +
         table_cell("Used, cost", usd_text(micro_usd_of(used))) +
         table_cell("Not used, GPU-hours", gpu_hours_text(unused.gpu_us, kHourDecimalsShown)) +
         table_cell("Not used, cost", usd_text(micro_usd_of(unused))) +
         table_cell("Total", barred(usd_text(micro_usd_of(total)), width_of(total.grains, overview.total.grains))) +
         table_cell("Share", share_text(total.grains, overview.total.grains)) + "</tr>\n";
}

void add_kinds(TenantCost& sum, const TenantCost& cost) {
  for (std::size_t i = 0; i < sum.kinds.size(); ++i) sum.kinds.at(i) += cost.kinds.at(i);
}

/// The tenants that pay most, the others together, unowned cost, and the total.
std::string tenant_rows(const CostOverview& overview) {
  const std::vector<std::string> styles = tenant_styles(overview);
  std::string rows;
  std::string last_rows;
  std::size_t count = 0;
  TenantCost others{.tenant = {}, .kinds = {}};
  TenantCost all{.tenant = {}, .kinds = {}};
  for (std::size_t i = 0; i < overview.tenants.size(); ++i) {
    const TenantCost& cost = overview.tenants[i];
    add_kinds(all, cost);
    if (cost.tenant.empty()) {
      last_rows = tenant_row(overview, styles[i], "nobody", cost);
    } else if (++count <= kTenantRowsMax) {
      rows += tenant_row(overview, styles[i], name_markup(cost.tenant), cost);
    } else {
      add_kinds(others, cost);
    }
  }
  if (count > kTenantRowsMax) {
    const auto left = static_cast<std::int64_t>(count - kTenantRowsMax);
    rows += tenant_row(overview, "others", with_separators(left) + " more", others);
  }
  return rows + last_rows + tenant_row(overview, "", "all", all);
}

std::string burn_section(const CostOverview& overview) {
  return cost_section(
      "burn", "What each day costs, and who pays",
      "Cells as known now, stacked by tenant. A tenant pays for what it uses, and for idle time of GPUs "
      "that it owns. Below the days, the months: closed ones do not change, and later findings are "
      "booked in later months.",
      burn_key(overview) + burn_figure(overview) +
          cost_table_of(
              {"Tenant", "Used, GPU-hours", "Used, cost", "Not used, GPU-hours", "Not used, cost", "Total", "Share"}, 0,
              tenant_rows(overview)));
}

// Budgets

std::string reached_cell(const BudgetStanding& standing, std::size_t percent) {
  const auto& day = standing.reached.at(percent);
  return table_cell(fmt::format("{} % on", ledger::kBudgetPercents.at(percent)),
                    day ? day->to_string() : std::string(kAbsentCell));
}

std::string budget_row(const BudgetStanding& standing) {
  const MicroUsd budget = standing.budget.micro_usd_per_month;
  const bool is_ok = standing.state == ledger::BudgetState::kOk;
  return fmt::format(R"(<tr><th scope="row">{}</th>)", name_markup(standing.budget.tenant)) +
         table_cell("Budget",
                    usd_text(budget) + (standing.budget.is_hard ? " <small>hard</small>" : " <small>soft</small>")) +
         table_cell("Spent", barred(usd_text(standing.spent_micro_usd), width_of(standing.spent_micro_usd, budget))) +
         table_cell("Of budget", share_text(standing.spent_micro_usd, budget)) + reached_cell(standing, 0) +
         reached_cell(standing, 1) + reached_cell(standing, 2) +
         table_cell("Forecast", fmt::format("<span{}>{}</span>", is_tight(standing) ? " class=\"tight\"" : "",
                                            with_share(usd_text(standing.forecast_micro_usd),
                                                       standing.forecast_micro_usd, budget))) +
         table_cell("State",
                    fmt::format("<span{}>{}</span>", is_ok ? "" : " class=\"tight\"", name_of(standing.state))) +
         "</tr>\n";
}

std::string left_out_note(std::size_t count, std::size_t shown_max, std::string_view things) {
  if (count <= shown_max) return "";
  return fmt::format("<p class=\"note\">The first {} of {} {}; <code>--format json</code> has all.</p>\n", shown_max,
                     with_separators(static_cast<std::int64_t>(count)), things);
}

std::string budgets_section(const CostOverview& overview) {
  constexpr std::string_view kTitle = "Budgets: the month to date";
  if (overview.budgets.empty()) return cost_section("budgets", kTitle, "No budget is in force.", "");
  std::string rows;
  const auto order = budgets_by_use(overview);
  for (std::size_t i = 0; i < std::min(order.size(), kBudgetRowsMax); ++i) rows += budget_row(*order[i]);
  const std::string lead = fmt::format(
      "{} until {} UTC, the budgets that are used most first. The forecast: what is spent, and for each full day that "
      "is "
      "left the mean of the last seven.",
      month_words(overview.budgets_month), utc_text(overview.budgets_until_us));
  const std::string drawn = order.size() > kBudgetFiguresMax
                                ? fmt::format("<p class=\"note\">The first {} of {} budgets are drawn.</p>\n",
                                              kBudgetFiguresMax, with_separators(std::ssize(order)))
                                : "";
  return cost_section("budgets", kTitle, lead,
                      budget_key() + budget_figures(overview) + drawn +
                          cost_table_of({"Tenant", "Budget", "Spent", "Of budget", "50 % on", "80 % on", "100 % on",
                                         "Forecast", "State"},
                                        0, rows) +
                          left_out_note(order.size(), kBudgetRowsMax, "budgets"));
}

// Kinds

std::string kind_row(const CostOverview& overview, std::string_view kind, const std::string& owner,
                     const Amount& amount) {
  const std::string swatch = row_swatch(fmt::format("kind {}", kind));
  const bool is_all = kind == "all";
  return fmt::format(R"(<tr{}><th scope="row">{}{}</th>)", is_all ? R"( class="all")" : "", is_all ? "" : swatch,
                     kind) +
         text_column("Owner", owner) + table_cell("GPU-hours", gpu_hours_text(amount.gpu_us, kHourDecimalsShown)) +
         table_cell("Of GPU time", share_text(amount.gpu_us, overview.total.gpu_us)) +
         table_cell("Cost", barred(usd_text(micro_usd_of(amount)), width_of(amount.grains, overview.total.grains))) +
         table_cell("Of cost", share_text(amount.grains, overview.total.grains)) + "</tr>\n";
}

/// Rows of an unused kind by owner: unowned first, then the most expensive.
std::string owner_rows(const CostOverview& overview, SpendKind kind) {
  std::vector<const TenantCost*> owners;
  for (const TenantCost& cost : overview.tenants) {
    if (amount_of(cost, kind) != Amount()) owners.push_back(&cost);
  }
  sort_stably(owners,
              [&](const TenantCost* cost) { return std::pair(!cost->tenant.empty(), -amount_of(*cost, kind).grains); });
  std::string rows;
  Amount others;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Amount& amount = amount_of(*owners[i], kind);
    const std::string owner = owners[i]->tenant.empty() ? "<i>nobody</i>" : name_markup(owners[i]->tenant);
    if (i < kOwnerRowsMax) {
      rows += kind_row(overview, name_of(kind), owner, amount);
    } else {
      others += amount;
    }
  }
  if (owners.size() <= kOwnerRowsMax) return rows;
  const auto left = static_cast<std::int64_t>(owners.size() - kOwnerRowsMax);
  return rows + kind_row(overview, name_of(kind), with_separators(left) + " more", others);
}

std::string kinds_section(const CostOverview& overview) {
  std::string rows =
      kind_row(overview, name_of(SpendKind::kUsed), "the tenants that use it", kind_total(overview, SpendKind::kUsed));
  for (const SpendKind kind : {SpendKind::kReconfiguration, SpendKind::kStranded, SpendKind::kIdle}) {
    rows += owner_rows(overview, kind);
  }
  rows += kind_row(overview, "all", "", overview.total);
  return cost_section(
      "kinds", "What GPUs were paid for, and what they were for",
      "A slice counts with its weight’s share of its GPU; reserved slices count as used. What is not used is nobody’s, "
      "unless the GPU has an owner.",
      kinds_key() + kinds_figure(overview) +
          cost_table_of({"Kind", "Owner", "GPU-hours", "Of GPU time", "Cost", "Of cost"}, 1, rows));
}

// Changes

std::string change_text(const ledger::PriceChange& change) {
  if (!change.before || *change.before == 0) return std::string(kAbsentCell);
  const std::string share = share_text(change.after - *change.before, *change.before);
  return change.after > *change.before ? "+" + share : share;
}

std::string price_text(std::int64_t micro_usd) { return "$" + std::string(exact_money(micro_usd)); }

std::string prices_part(const CostOverview& overview) {
  const auto& changes = overview.price_changes;
  if (changes.empty()) return "<p>No price changed.</p>\n";
  std::string rows;
  for (std::size_t i = 0; i < std::min(changes.size(), kChangeRowsMax); ++i) {
    const ledger::PriceChange& change = changes[i];
    rows += fmt::format(R"(<tr><th scope="row">{}</th>)", i + 1) + text_column("When, UTC", utc_text(change.at_us)) +
            text_column("GPU type", name_markup(change.sku)) +
            table_cell("Before, a GPU-hour", change.before ? price_text(*change.before) : std::string(kAbsentCell)) +
            table_cell("From then on", price_text(change.after)) + table_cell("Change", change_text(change)) +
            "</tr>\n";
  }
  return cost_table_of({"Mark", "When, UTC", "GPU type", "Before, a GPU-hour", "From then on", "Change"}, 2, rows) +
         left_out_note(changes.size(), kChangeRowsMax, "changes of prices");
}

std::string corrections_part(const CostOverview& overview) {
  const auto& corrections = overview.corrections;
  if (corrections.empty()) return "<p>No closed month was corrected.</p>\n";
  std::string rows;
  for (std::size_t i = 0; i < std::min(corrections.size(), kChangeRowsMax); ++i) {
    const ledger::CorrectionSum& sum = corrections[i];
    const bool is_closed = overview.last_closed && sum.booked <= *overview.last_closed;
    rows += fmt::format(R"(<tr><th scope="row">{}</th>)", sum.of.to_string()) +
            text_column("Booked in",
                        fmt::format("{} <small>{}</small>", sum.booked.to_string(), is_closed ? "closed" : "open")) +
            table_cell("Rows of the bill", with_separators(static_cast<std::int64_t>(sum.row_count))) +
            table_cell("Moved", usd_text(sum.moved_micro_usd)) +
            table_cell("Net GPU-hours", gpu_hours_text(sum.gpu_us, kHourDecimalsShown)) +
            table_cell("Net", usd_text(sum.micro_usd)) + "</tr>\n";
  }
  return cost_table_of({"Month corrected", "Booked in", "Rows of the bill", "Moved", "Net GPU-hours", "Net"}, 1, rows) +
         left_out_note(corrections.size(), kChangeRowsMax, "corrections");
}

std::string changes_section(const CostOverview& overview) {
  return cost_section(
      "changes", "Prices and corrections",
      "Prices hold from their moment on, in the middle of a slice too. A correction books late findings about a closed "
      "month in a later one; moved is the sum of the increases.",
      "<h3>Changes of prices</h3>\n" + prices_part(overview) + "<h3>Corrections of closed months</h3>\n" +
          corrections_part(overview));
}

// The page

std::string days_words(const ledger::Interval& when) {
  const std::int32_t count = day_of(when.to_us - 1) - day_of(when.from_us) + 1;
  return count == 1 ? "1 day" : with_separators(count) + " days";
}

std::string cost_headline(const CostOverview& overview) {
  if (!overview.when) return "No GPU is paid for in this time.";
  std::string words =
      fmt::format("{} in {} for {} GPU-hours", usd_text(micro_usd_of(overview.total)), days_words(*overview.when),
                  gpu_hours_text(overview.total.gpu_us, kHourDecimalsShown));
  std::string_view separator = ": ";
  for (const SpendKind kind : ledger::kSpendKinds) {
    const Amount amount = kind_total(overview, kind);
    if (amount == Amount()) continue;
    words += fmt::format("{}{} {}", separator, share_text(amount.gpu_us, overview.total.gpu_us), name_of(kind));
    separator = ", ";
  }
  return words + ".";
}

std::string cost_facts(const std::string& ledger_name, const CostOverview& overview) {
  std::string facts = fact("Ledger", isolated(ledger_name));
  if (!overview.when) return facts;
  const auto is_tenant = [](const TenantCost& cost) { return !cost.tenant.empty(); };
  facts += fact("From", utc_text(overview.when->from_us) + " UTC") +
           fact("To", utc_text(overview.when->to_us) + " UTC") +
           fact("GPUs", with_separators(static_cast<std::int64_t>(overview.gpu_count))) +
           fact("Tenants", with_separators(std::ranges::count_if(overview.tenants, is_tenant))) +
           fact("Closed up to", overview.last_closed ? overview.last_closed->to_string() : "no month yet");
  if (overview.unpriced_us > 0) {
    facts += fact("Without a price, in total", gpu_hours_text(overview.unpriced_us, kHourDecimalsShown) + " GPU-hours");
  }
  if (overview.unbacked_us > 0) {
    facts +=
        fact("Use of GPUs not paid for, in total", gpu_hours_text(overview.unbacked_us, kHourDecimalsShown) + " hours");
  }
  return facts;
}

}  // namespace

std::string render_cost_report(const std::string& ledger_name, const CostOverview& overview) {
  std::string sections;
  if (overview.when) sections += burn_section(overview);
  if (overview.when || !overview.budgets.empty()) sections += budgets_section(overview);
  if (overview.when) sections += kinds_section(overview) + changes_section(overview);
  return fill_page(embedded(cost_html_begin, cost_html_end), {{"title", html_escaped(isolated(ledger_name))},
                                                              {"headline", html_escaped(cost_headline(overview))},
                                                              {"facts", cost_facts(ledger_name, overview)},
                                                              {"sections", sections}});
}

}  // namespace berth::report
