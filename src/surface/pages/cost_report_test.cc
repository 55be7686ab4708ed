#include "surface/pages/cost_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "surface/pages/budget_charts.h"
#include "surface/pages/cost_charts.h"
#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using ledger::Amount;
using ledger::CostOverview;
using ledger::Grains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int32_t kCostMonday = 20'773;  // 2026-11-16
constexpr std::int64_t kHour = 3'600'000'000;

Amount amount(std::int64_t gpu_hours, std::int64_t usd) {
  return {.gpu_us = Int128{gpu_hours} * kHour, .grains = Int128{usd} * 1'000'000 * ledger::kGrainsPerMicroUsd};
}

/// Tenants that each use a GPU-hour per day, cheaper than the previous one's; another GPU-hour is idle and unowned.
CostOverview overview_of(std::size_t tenant_count, std::int32_t days, const std::string& prefix = "team-") {
  CostOverview overview;
  overview.when =
      ledger::Interval{.from_us = kCostMonday * kMicrosPerDay, .to_us = (kCostMonday + days) * kMicrosPerDay};
  overview.gpu_count = 1;
  for (std::size_t i = 0; i <= tenant_count; ++i) {
    const auto usd = static_cast<std::int64_t>(tenant_count - i + 1);
    const bool is_nobody = i == tenant_count;
    overview.tenants.push_back({.tenant = is_nobody ? "" : fmt::format("{}{}", prefix, i), .kinds = {}});
    overview.tenants.back().kinds.at(is_nobody ? 1 : 0) = amount(days, usd * days);
    overview.total += amount(days, usd * days);
    for (std::int32_t day = 0; day < days; ++day) {
      overview.days.push_back({.day = kCostMonday + day, .tenant = i, .grains = amount(1, usd).grains});
    }
  }
  overview.has_hours = days <= ledger::kHourlyDaysMax;
  const std::int64_t length_us = overview.has_hours ? kHour : kMicrosPerDay;
  for (std::int64_t us = overview.when->from_us; us < overview.when->to_us; us += length_us) {
    overview.spans.push_back({.when = {.from_us = us, .to_us = us + length_us}, .kinds = {}});
    overview.spans.back().kinds.at(0).gpu_us = length_us / 2;
    overview.spans.back().kinds.at(1).gpu_us = length_us / 2;
  }
  return overview;
}

ledger::BudgetStanding budget_of(const std::string& tenant, std::int64_t budget_usd, std::int64_t spent_usd,
                                 std::int64_t forecast_usd) {
  return {.budget = {.tenant = tenant, .from_us = 0, .micro_usd_per_month = budget_usd * 1'000'000, .is_hard = true},
          .spent_micro_usd = Int128{spent_usd} * 1'000'000,
          .reached = {Date(kCostMonday), std::nullopt, std::nullopt},
          .spent_by_day = {0, Int128{spent_usd} * 1'000'000},
          .forecast_micro_usd = Int128{forecast_usd} * 1'000'000,
          .state = spent_usd >= budget_usd ? ledger::BudgetState::kHard : ledger::BudgetState::kOk};
}

void put_budgets(CostOverview& overview, std::vector<ledger::BudgetStanding> budgets) {
  overview.budgets_month = Month::of(kCostMonday * kMicrosPerDay);
  overview.budgets_until_us = (kCostMonday + 1) * kMicrosPerDay;
  overview.budgets = std::move(budgets);
}

TEST(CostReport, BeginsWithWhatItCostAndWhatForItWas) {
  const std::string page = render_cost_report("week.jsonl", overview_of(1, 2));
  EXPECT_THAT(page, HasSubstr("<h1 id=\"headline\">$6.00 in 2 days for 4.00 GPU-hours: 50.0\u00A0% used, 50.0\u00A0% "
                              "idle.</h1>"));
  EXPECT_THAT(page, HasSubstr("<dd>week.jsonl</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd>2026-11-16 00:00 UTC</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd>no month yet</dd>"));
  EXPECT_THAT(page, Not(HasSubstr("Without a price")));
}

TEST(CostReport, StacksTenantsByDayWithNobodyOnTop) {
  const std::string page = render_cost_report("l", overview_of(2, 2));
  EXPECT_EQ(testing::count_of(page, "team-0: $3.00</title>"), 2U);
  EXPECT_THAT(page, HasSubstr("<title>16 Nov team-0: $3.00</title>"));
  EXPECT_THAT(page, HasSubstr("<title>17 Nov nobody: $1.00</title>"));
  EXPECT_LT(page.find("burn l1\" x="), page.find("burn nobodys\" x="));
  EXPECT_THAT(page, HasSubstr("November 2026: open"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(CostReport, ManyTenantsShareALayerAndARow) {
  const CostOverview overview = overview_of(100, 1);
  const auto styles = tenant_styles(overview);
  EXPECT_EQ(styles[7], "l7");
  EXPECT_EQ(styles[8], "others");
  EXPECT_EQ(styles[100], "nobodys");
  const std::string page = render_cost_report("l", overview);
  EXPECT_THAT(page, HasSubstr("92 others"));
  EXPECT_THAT(page, HasSubstr("40 more"));
  EXPECT_THAT(page, HasSubstr("<bdi>team-59</bdi>"));
  EXPECT_THAT(page, Not(HasSubstr("<bdi>team-60</bdi>")));
}

TEST(CostReport, LongTimesShareColumnsAndStaySmall) {
  const std::string page = render_cost_report("l", overview_of(3, 5000));
  EXPECT_THAT(page, HasSubstr("a column is the mean of 5 days"));
  EXPECT_THAT(page, HasSubstr("GPUs by day"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="burn l0" d=)"));
  EXPECT_LT(page.size(), 120'000U);
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(CostReport, ShowsBudgetsWithTheirForecast) {
  CostOverview overview = overview_of(1, 1);
  put_budgets(overview, {budget_of("calm", 1000, 10, 20), budget_of("tight", 100, 40, 120)});
  const std::string page = render_cost_report("l", overview);
  EXPECT_LT(page.find("<bdi>tight</bdi>"), page.find("<bdi>calm</bdi>"));
  EXPECT_THAT(page, HasSubstr("November 2026 until 2026-11-17 00:00 UTC"));
  EXPECT_THAT(page, HasSubstr("<b class=\"tight\">$120.00</b> (120.0\u00A0%)"));
  EXPECT_THAT(page, HasSubstr("<span>$1,000.00 (hard)</span>"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="50 % on">2026-11-16</td>)"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="forecast over" d=)"));
}

TEST(CostReport, BudgetsOfNothingComeFirst) {
  CostOverview overview = overview_of(1, 1);
  put_budgets(overview, {budget_of("a", 10, 20, 30), budget_of("b", 0, 0, 0), budget_of("c", 0, 5, 9)});
  const auto order = budgets_by_use(overview);
  EXPECT_EQ(order[0]->budget.tenant, "b");
  EXPECT_EQ(order[2]->budget.tenant, "a");
  EXPECT_FALSE(testing::has_bad_number(render_cost_report("l", overview)));
}

TEST(CostReport, OfManyBudgetsTheFirstAreDrawn) {
  CostOverview overview = overview_of(1, 1);
  std::vector<ledger::BudgetStanding> budgets;
  budgets.reserve(70);
  for (int i = 0; i < 70; ++i) budgets.push_back(budget_of(fmt::format("b{}", i), 100 + i, 5, 9));
  put_budgets(overview, std::move(budgets));
  const std::string page = render_cost_report("l", overview);
  EXPECT_EQ(testing::count_of(page, "class=\"budgetfigure\""), kBudgetFiguresMax);
  EXPECT_THAT(page, HasSubstr("The first 12 of 70 budgets are drawn."));
  EXPECT_THAT(page, HasSubstr("The first 60 of 70 budgets;"));
}

TEST(CostReport, ShowsKindsWithTheirOwners) {
  CostOverview overview = overview_of(12, 1);
  for (std::size_t i = 0; i < overview.tenants.size(); ++i) overview.tenants[i].kinds.at(2) = amount(1, 50);
  const std::string page = render_cost_report("l", overview);
  EXPECT_THAT(page, HasSubstr("stranded</th><td class=\"text\" data-label=\"Owner\"><i>nobody</i></td>"));
  EXPECT_THAT(page, HasSubstr("stranded</th><td class=\"text\" data-label=\"Owner\">3 more</td>"));
  EXPECT_THAT(page, HasSubstr("the tenants that use it"));
}

TEST(CostReport, MarksChangesOfPricesAndCorrections) {
  CostOverview overview = overview_of(1, 7);
  overview.price_changes = {
      {.at_us = overview.when->from_us + kHour, .sku = "a<", .before = 2'000'000, .after = 1'500'000},
      {.at_us = overview.when->from_us + 2 * kHour, .sku = "b", .before = std::nullopt, .after = 7}};
  const Month month = Month::of(overview.when->from_us);
  overview.corrections = {
      {.booked = month.next(), .of = month, .micro_usd = -5'000'000, .moved_micro_usd = 2'000'000, .row_count = 3}};
  overview.last_closed = month;
  const std::string page = render_cost_report("l", overview);
  EXPECT_THAT(page, HasSubstr(">1–2</text>"));
  EXPECT_THAT(page, HasSubstr("<bdi>a&lt;</bdi>"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Change">−25.0)"));
  EXPECT_THAT(page, HasSubstr("November 2026: closed, corrected later"));
  EXPECT_THAT(page, HasSubstr("2026-12 <small>open</small>"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Net">−$5.00</td>)"));
  const std::string calm = render_cost_report("l", overview_of(1, 7));
  EXPECT_THAT(calm, HasSubstr("No price changed."));
  EXPECT_THAT(calm, HasSubstr("No closed month was corrected."));
}

TEST(CostReport, SaysThatNothingIsPaidFor) {
  const std::string page = render_cost_report("l", CostOverview());
  EXPECT_THAT(page, HasSubstr("No GPU is paid for in this time."));
  EXPECT_THAT(page, Not(HasSubstr("<section")));
}

TEST(CostReport, WhatCostsNothingHasNoShare) {
  CostOverview overview = overview_of(1, 1);
  for (ledger::TenantCost& cost : overview.tenants) {
    for (Amount& each : cost.kinds) each.grains = 0;
  }
  overview.total.grains = 0;
  overview.days.clear();
  overview.unpriced_us = Int128{2} * kHour;
  const std::string page = render_cost_report("l", overview);
  EXPECT_THAT(page, HasSubstr("<dd>2.00 GPU-hours</dd>"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Share">–</td>)"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(CostReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  CostOverview overview = overview_of(9, 1, "<script>{{css}}\u202E");
  put_budgets(overview, {budget_of("\"><script>", 1, 1, 1)});
  const std::string page = render_cost_report("</title><script>", overview);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\u202E")));
  EXPECT_EQ(testing::count_of(page, "{{"), testing::count_of(page, "{{css}}"));
}

TEST(CostReport, AxesNameAmountsShortly) {
  EXPECT_EQ(short_usd(0), "$0");
  EXPECT_EQ(short_usd(2500), "$2,500");
  EXPECT_EQ(short_usd(20'000), "$20k");
  EXPECT_EQ(short_usd(1.5e6), "$1.5M");
  EXPECT_EQ(short_usd(8e12), "$8T");
  EXPECT_EQ(short_usd(0.00003), "$0.000030");
  EXPECT_EQ(short_usd(2e-9), "$2.0e-09");
}

}  // namespace
}  // namespace berth::report
