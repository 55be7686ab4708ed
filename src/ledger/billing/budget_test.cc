#include "ledger/billing/budget.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ledger/books/testing/line_ledger.h"
#include "ledger/books/testing/lines.h"

namespace berth::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace testing;  // lines of events

constexpr std::int64_t kDay = kMicrosPerDay;

/// "TENANT: spent S, reached D/D/D, forecast F, STATE"; D is the day of the month or -.
std::vector<std::string> budget_texts_of(const std::vector<BudgetStanding>& standings) {
  std::vector<std::string> texts;
  for (const BudgetStanding& standing : standings) {
    std::string reached;
    for (const auto& day : standing.reached) {
      reached += (reached.empty() ? "" : "/") + (day ? day->to_string().substr(8) : std::string("-"));
    }
    texts.push_back(fmt::format("{}: spent {}, reached {}, forecast {}, {}", standing.budget.tenant,
                                standing.spent_micro_usd, reached, standing.forecast_micro_usd,
                                name_of(standing.state)));
  }
  return texts;
}

std::vector<std::string> standings(LineLedger& ledger, std::int64_t as_of_us) {
  return budget_texts_of(budget_standings(ledger.books(), as_of_us));
}

/// A micro-dollar an hour, 24 a day, from the first of November to the end of January, by acme.
LineLedger& steady(LineLedger& ledger) {
  const Interval when{.from_us = kNovember, .to_us = kFebruary};
  ledger.take(price_line("p", kNovember, 1));
  ledger.take(gpu_line("g", when));
  ledger.take(use_line("u", when));
  return ledger;
}

TEST(Budget, SaysWhatIsSpentReachedAndToBeExpected) {
  LineLedger ledger;
  steady(ledger).take(budget_line("b", {.micro_usd = 480}));
  // Day 10 ends with 240, day 16 with 384, day 20 with 480. 30 days are 720.
  EXPECT_THAT(standings(ledger, kNovember + 9 * kDay), ElementsAre("acme: spent 216, reached -/-/-, forecast 720, ok"));
  EXPECT_THAT(standings(ledger, kNovember + 10 * kDay - kHour),
              ElementsAre("acme: spent 239, reached -/-/-, forecast 719, ok"));
  EXPECT_THAT(standings(ledger, kNovember + 10 * kDay),
              ElementsAre("acme: spent 240, reached 10/-/-, forecast 720, ok"));
  EXPECT_THAT(standings(ledger, kNovember + 16 * kDay),
              ElementsAre("acme: spent 384, reached 10/16/-, forecast 720, ok"));
  EXPECT_THAT(standings(ledger, kNovember + 20 * kDay - 1),
              ElementsAre("acme: spent 479, reached 10/16/-, forecast 719, ok"));
  EXPECT_THAT(standings(ledger, kNovember + 20 * kDay),
              ElementsAre("acme: spent 480, reached 10/16/20, forecast 720, soft"));
  EXPECT_THAT(standings(ledger, kDecember - 1), ElementsAre("acme: spent 719, reached 10/16/20, forecast 719, soft"));
  // The next month begins with nothing.
  EXPECT_THAT(standings(ledger, kDecember), ElementsAre("acme: spent 0, reached -/-/-, forecast 0, ok"));
}

TEST(Budget, ADayThatGoesOnMayReachIt) {
  LineLedger ledger;
  steady(ledger).take(budget_line("b", {.micro_usd = 50, .is_hard = true}));
  // 25 are reached on the second day, 40 too, 50 on the third at two o'clock.
  EXPECT_THAT(standings(ledger, kNovember + 2 * kDay + 2 * kHour),
              ElementsAre("acme: spent 50, reached 02/02/03, forecast 698, hard"));
  EXPECT_THAT(standings(ledger, kNovember + kDay + kHour),
              ElementsAre("acme: spent 25, reached 02/-/-, forecast 697, ok"));
}

TEST(Budget, TheForecastTakesTheLastSevenFullDays) {
  // 24 a day; 48 on the 8th, which is one of the seven until the 15th has ended.
  LineLedger ledger;
  steady(ledger).take(budget_line("b", {.micro_usd = 1'000'000}));
  ledger.take(gpu_line("h", {.from_us = kNovember + 7 * kDay, .to_us = kNovember + 8 * kDay}, {.gpu = "h"}));
  ledger.take(use_line("v", {.from_us = kNovember + 7 * kDay, .to_us = kNovember + 8 * kDay}, {.gpu = "h"}));
  // 14 full days and 15 left, for half of the 15th day: 16 x 24 - 12 = 372 spent, + (8 x 24) x 15 / 7 = 411.4.
  EXPECT_THAT(standings(ledger, kNovember + 14 * kDay + 12 * kHour),
              ElementsAre("acme: spent 372, reached -/-/-, forecast 783, ok"));
  EXPECT_THAT(standings(ledger, kNovember + 15 * kDay),
              ElementsAre("acme: spent 384, reached -/-/-, forecast 744, ok"));
  // Fewer full days: those; none: nothing more.
  EXPECT_THAT(standings(ledger, kNovember + 2 * kDay), ElementsAre("acme: spent 48, reached -/-/-, forecast 720, ok"));
  EXPECT_THAT(standings(ledger, kNovember + kDay - 1), ElementsAre("acme: spent 23, reached -/-/-, forecast 23, ok"));
  EXPECT_THAT(standings(ledger, kNovember + kDay), ElementsAre("acme: spent 24, reached -/-/-, forecast 720, ok"));
}

TEST(Budget, TheForecastIsOfGrainsAndRoundsOnce) {
  // Half a micro-dollar on the first day: 0 spent, 29 x 1/2 to come.
  LineLedger ledger({price_line("p", kNovember, 1), budget_line("b", {.micro_usd = 5}),
                     gpu_line("g", {.from_us = kNovember, .to_us = kNovember + kHour / 2}),
                     use_line("u", {.from_us = kNovember, .to_us = kNovember + kHour / 2})});
  EXPECT_THAT(standings(ledger, kNovember + kDay), ElementsAre("acme: spent 0, reached -/-/-, forecast 14, ok"));
}

TEST(Budget, TheLatestOfATenantIsInForce) {
  LineLedger ledger;
  steady(ledger);
  ledger.take(budget_line("late", {.from_us = kNovember + 5 * kDay, .micro_usd = 10}));
  ledger.take(budget_line("early", {.from_us = kNovember - kDay, .micro_usd = 1000}));
  ledger.take(budget_line("future", {.from_us = kDecember, .micro_usd = 20}));
  const auto amount = [&](std::int64_t us) {
    return budget_standings(ledger.books(), us).at(0).budget.micro_usd_per_month;
  };
  EXPECT_EQ(amount(kNovember + 5 * kDay - 1), 1000);
  // It is a budget of the whole month, so it was reached before it was in force.
  EXPECT_THAT(standings(ledger, kNovember + 5 * kDay),
              ElementsAre("acme: spent 120, reached 01/01/01, forecast 720, soft"));
  EXPECT_EQ(amount(kDecember - 1), 10);
  EXPECT_EQ(amount(kDecember), 20);
  ledger.take(void_line({.id = "v", .of = "late"}));
  EXPECT_EQ(amount(kDecember - 1), 1000);
  EXPECT_THAT(standings(ledger, kNovember - kDay - 1), IsEmpty());
}

TEST(Budget, EachTenantPaysItsOwnIdleTime) {
  LineLedger ledger(
      {price_line("p", kNovember, 10),
       gpu_line("g", {.from_us = kNovember, .to_us = kNovember + kHour}, {.capacity = 2, .owner = "zeta"}),
       use_line("u", {.from_us = kNovember, .to_us = kNovember + kHour}, {.weight = 1}),
       gpu_line("h", {.from_us = kNovember, .to_us = kNovember + kHour}, {.gpu = "h"}),
       budget_line("b1", {.tenant = "zeta", .micro_usd = 100}), budget_line("b2", {.tenant = "acme", .micro_usd = 100}),
       budget_line("b3", {.tenant = "nothing", .micro_usd = 100}),
       budget_line("b4", {.tenant = "", .micro_usd = 100})});
  EXPECT_THAT(
      standings(ledger, kNovember + kHour),
      ElementsAre(": spent 10, reached -/-/-, forecast 10, ok", "acme: spent 5, reached -/-/-, forecast 5, ok",
                  "nothing: spent 0, reached -/-/-, forecast 0, ok", "zeta: spent 5, reached -/-/-, forecast 5, ok"));
}

TEST(Budget, ABudgetOfNothingIsReachedAtOnce) {
  LineLedger ledger(
      {budget_line("b", {.micro_usd = 0, .is_hard = true}), budget_line("c", {.tenant = "z", .micro_usd = 0})});
  EXPECT_THAT(standings(ledger, kNovember), ElementsAre("acme: spent 0, reached 01/01/01, forecast 0, hard",
                                                        "z: spent 0, reached 01/01/01, forecast 0, soft"));
}

TEST(Budget, AnInstantCutsItsCells) {
  // Half of half a micro-dollar a microsecond.
  LineLedger ledger({price_line("p", kNovember, kGrainsPerMicroUsd / 2), budget_line("b", {.micro_usd = 100}),
                     gpu_line("g", {.from_us = kNovember, .to_us = kNovember + 8}, {.capacity = 2}),
                     use_line("u", {.from_us = kNovember, .to_us = kNovember + 8}, {.weight = 1})});
  const auto spent = [&](std::int64_t us) {
    return budget_standings(ledger.books(), kNovember + us).at(0).spent_micro_usd;
  };
  EXPECT_EQ(spent(0), 0);
  EXPECT_EQ(spent(3), 0);
  EXPECT_EQ(spent(4), 1);
  EXPECT_EQ(spent(7), 1);
  EXPECT_EQ(spent(8), 2);
  EXPECT_EQ(spent(1000), 2);
}

TEST(Budget, CorrectionsCountInTheMonthOfTheirUse) {
  LineLedger ledger;
  steady(ledger).take(budget_line("b", {.micro_usd = 1'000'000}));
  ledger.take(close_line("c", Month::of(kNovember)));
  ledger.take(void_line({.id = "v", .of = "u"}));
  EXPECT_THAT(standings(ledger, kDecember - 1), ElementsAre("acme: spent 0, reached -/-/-, forecast 0, ok"));
}

TEST(Budget, UntilTheEndOfAMonthMeansThatMonth) {
  LineLedger ledger;
  steady(ledger).take(budget_line("b", {.micro_usd = 720}));
  ledger.take(budget_line("next", {.from_us = kDecember, .micro_usd = 5}));
  const auto standing = budget_standings_until(ledger.books(), kDecember);
  EXPECT_THAT(budget_texts_of(standing), ElementsAre("acme: spent 720, reached 15/24/30, forecast 720, soft"));
  ASSERT_EQ(standing[0].spent_by_day.size(), 30U);
  EXPECT_EQ(standing[0].spent_by_day.front(), 24);
  EXPECT_EQ(standing[0].spent_by_day[28], 696);
  EXPECT_EQ(standing[0].spent_by_day.back(), 720);
  EXPECT_THAT(budget_texts_of(budget_standings_until(ledger.books(), kDecember + 1)),
              ElementsAre("acme: spent 0, reached -/-/-, forecast 0, ok"));
  EXPECT_EQ(budget_standings_until(ledger.books(), kNovember + kDay + 1).at(0).spent_by_day.size(), 2U);
}

}  // namespace
}  // namespace berth::ledger
