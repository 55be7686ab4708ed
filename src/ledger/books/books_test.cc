// Small ledgers, worked out by hand. A price of p for t microseconds is p x t grains, and 3,600,000,000 grains are a
// micro-dollar: an hour at p costs p of them.
#include "ledger/books/books.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ledger/books/testing/line_ledger.h"
#include "ledger/books/testing/lines.h"

namespace berth::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace testing;  // lines of events

constexpr std::int64_t kNovemberHours = 720;

Month november_month() { return Month::of(kNovember); }
Month december_month() { return Month::of(kDecember); }
Month january_month() { return Month::of(kJanuary); }

Interval hours(std::int64_t from_us, std::int64_t count) {
  return {.from_us = from_us, .to_us = from_us + count * kHour};
}
Interval micros(std::int64_t from_us, std::int64_t count) { return {.from_us = from_us, .to_us = from_us + count}; }

std::vector<std::string> rows_of(const std::vector<std::string>& lines) {
  LineLedger ledger(lines);
  const Report report = ledger.report();
  EXPECT_EQ(report.counts.accepted, lines.size());
  EXPECT_EQ(report.grains, report.micro_usd * kGrainsPerMicroUsd + report.carried_grains);
  EXPECT_EQ(ledger.books().trial_balance().sum, 0);
  return row_texts(report);
}

struct Step {
  std::string line;
  Verdict verdict = Verdict::kAccepted;
};

/// Takes the lines one after the other; each must get the stated verdict.
LineCounts counts_after(const std::vector<Step>& steps) {
  LineLedger ledger;
  for (const Step& step : steps) {
    const Verdict verdict = ledger.take(step.line);
    EXPECT_EQ(name_of(verdict), name_of(step.verdict)) << step.line;
  }
  return ledger.report().counts;
}

TEST(Books, AnEmptyLedgerSaysNothing) {
  LineLedger ledger;
  EXPECT_EQ(ledger.report(), Report());
  EXPECT_THAT(ledger.books().trial_balance().accounts, IsEmpty());
  EXPECT_FALSE(ledger.books().paid_time().has_value());
  EXPECT_FALSE(ledger.books().last_closed().has_value());
}

// Which lines are accepted

TEST(Acceptance, AnIdCountsOnce) {
  const std::string use = use_line("a", hours(kNovember, 1));
  const LineCounts counts = counts_after({
      {use},
      {use, Verdict::kDuplicate},
      {R"( {"to_us":1793494800000000,"from_us":1793491200000000,"\u0072ole":"inference","service":"ch\u0061t",)"
       R"("tenant":"acme","weight":56,"slice":"0","gpu":"g","id":"\u0061","type":"use"} )",
       Verdict::kDuplicate},
      {use_line("a", hours(kNovember, 2)), Verdict::kConflict},
      {use_line("a", hours(kNovember, 2)), Verdict::kConflict},  // the first line counts, not the second
      {price_line("a", kNovember, 1), Verdict::kConflict},
      {close_line("a", november_month()), Verdict::kConflict},
      {use, Verdict::kDuplicate},
      {gpu_line("b", hours(kNovember, 1))},
      {gpu_line("b", hours(kNovember, 1), {.owner = ""}), Verdict::kConflict},  // a missing key is not an empty text
  });
  EXPECT_EQ(counts, (LineCounts{.lines = 10, .accepted = 2, .duplicates = 3, .conflicts = 5}));
}

TEST(Acceptance, WhatWasRefusedHasItsIdToo) {
  const LineCounts counts = counts_after({
      {use_line("a", hours(kNovember, 2))},
      {use_line("b", hours(kNovember, 1)), Verdict::kOverlap},
      {use_line("b", hours(kNovember, 1)), Verdict::kDuplicate},
      {use_line("b", hours(kDecember, 1)), Verdict::kConflict},
      {close_line("c", november_month())},
      {price_line("p", kNovember, 1), Verdict::kClosed},
      {price_line("p", kNovember, 1), Verdict::kDuplicate},
      {close_line("d", january_month()), Verdict::kClose},
      {close_line("d", december_month()), Verdict::kConflict},
      {void_line({.id = "v", .of = "p"}), Verdict::kVoid},
      {void_line({.id = "v", .of = "p"}), Verdict::kDuplicate},
      {void_line({.id = "v", .of = "a"}), Verdict::kConflict},
  });
  EXPECT_EQ(counts, (LineCounts{.lines = 12,
                                .accepted = 2,
                                .duplicates = 3,
                                .conflicts = 3,
                                .overlaps = 1,
                                .refused_closed = 1,
                                .refused_void = 1,
                                .refused_close = 1}));
}

TEST(Acceptance, PricesBudgetsAndRatesHaveMomentsOfTheirOwn) {
  counts_after({
      {price_line("p1", kNovember, 1)},
      {price_line("p2", kNovember, 1), Verdict::kConflict},  // equal, but a second one
      {price_line("p3", kNovember, 1, "a100")},
      {price_line("p4", kNovember + 1, 1)},
      {price_line("p5", kNovember - 1, 1)},
      {budget_line("b1", {.micro_usd = 5})},
      {budget_line("b2", {.micro_usd = 6}), Verdict::kConflict},
      {budget_line("b3", {.tenant = "zeta", .micro_usd = 6})},
      {budget_line("b4", {.from_us = kNovember + 1, .micro_usd = 6})},
      {rate_line("r1", kNovember, 1)},
      {rate_line("r2", kNovember, 2), Verdict::kConflict},
      {rate_line("r3", kNovember, 2, "JPY")},
      {rate_line("r4", kNovember + 1, 2)},
      {credit_line("c1", {.micro_usd = 1})},
      {credit_line("c2", {.micro_usd = 1})},  // two are two
  });
}

TEST(Acceptance, TimesOfAGpuAndOfASliceDoNotOverlap) {
  const auto use = [](std::string_view id, std::int64_t from, std::int64_t count, const UseFields& fields = {}) {
    return use_line(id, micros(kNovember + from, count), fields);
  };
  const auto gpu = [](std::string_view id, std::int64_t from, std::int64_t count, const GpuFields& fields = {}) {
    return gpu_line(id, micros(kNovember + from, count), fields);
  };
  counts_after({
      {use("u1", 10, 10)},
      {use("u2", 0, 10)},
      {use("u3", 20, 10)},
      {use("u4", 9, 1), Verdict::kOverlap},
      {use("u5", 10, 1), Verdict::kOverlap},
      {use("u6", 19, 1), Verdict::kOverlap},
      {use("u7", 29, 100), Verdict::kOverlap},
      {use("u8", -100, 101), Verdict::kOverlap},
      {use("u9", -100, 1000), Verdict::kOverlap},
      {use("u10", 12, 2), Verdict::kOverlap},
      {use("u11", 10, 10), Verdict::kOverlap},
      {use("u12", 12, 2, {.slice = "1"})},
      {use("u13", 12, 2, {.gpu = "h"})},
      {use("u14", 30, 1)},
      {gpu("g1", 10, 10)},
      {gpu("g2", 0, 10)},
      {gpu("g3", 20, 10)},
      {gpu("g4", 19, 1), Verdict::kOverlap},
      {gpu("g5", 29, 5, {.sku = "a100"}), Verdict::kOverlap},
      {gpu("g6", -5, 6), Verdict::kOverlap},
      {gpu("g7", -5, 600), Verdict::kOverlap},
      {gpu("g8", 12, 2), Verdict::kOverlap},
      {gpu("g9", 12, 2, {.gpu = "h"})},
      {gpu("g10", -5, 5)},
      {gpu("g11", 30, 1)},
  });
}

TEST(Acceptance, ClosedMonthsTakeNoPrices) {
  counts_after({
      {price_line("p1", kNovember, 1)},
      {close_line("c1", november_month())},
      {price_line("p2", kNovember, 2), Verdict::kConflict},  // the reason that comes first
      {price_line("p3", kNovember - 1, 2), Verdict::kClosed},
      {price_line("p4", kDecember - 1, 2), Verdict::kClosed},
      {price_line("p5", kDecember, 2)},
      {close_line("c2", december_month())},
      {price_line("p6", kDecember - 1, 2), Verdict::kClosed},  // a refused price does not occupy its instant
      {price_line("p7", kJanuary - 1, 2), Verdict::kClosed},
      {price_line("p8", kJanuary, 2)},
      // Everything else may come late.
      {gpu_line("g", hours(kNovember, 1))},
      {use_line("u", hours(kNovember, 1))},
      {credit_line("c", {.micro_usd = 1})},
      {budget_line("b", {.micro_usd = 1})},
      {rate_line("r", kNovember, 1)},
  });
}

TEST(Acceptance, MonthsAreClosedOneAfterTheOther) {
  const Month last = Month::parse("2100-12").value();
  counts_after({
      {close_line("c1", november_month())},
      {close_line("c2", november_month()), Verdict::kClose},
      {close_line("c3", january_month()), Verdict::kClose},
      {close_line("c4", Month(november_month().index() - 1)), Verdict::kClose},
      {close_line("c5", december_month())},
      {close_line("c6", december_month()), Verdict::kClose},
      {close_line("c7", january_month())},
  });
  counts_after({{close_line("c1", last)}, {close_line("c2", last), Verdict::kClose}});
}

TEST(Acceptance, OnlyUsesGpusCreditsAndBudgetsCanBeVoided) {
  const LineCounts counts = counts_after({
      {price_line("p", kNovember, 1)},
      {rate_line("r", kNovember, 1)},
      {close_line("x", Month(november_month().index() - 1))},
      {use_line("u", hours(kNovember, 1))},
      {gpu_line("g", hours(kNovember, 1))},
      {credit_line("c", {.micro_usd = 1})},
      {budget_line("b", {.micro_usd = 1})},
      {void_line({.id = "v1", .of = "p"}), Verdict::kVoid},
      {void_line({.id = "v2", .of = "r"}), Verdict::kVoid},
      {void_line({.id = "v3", .of = "x"}), Verdict::kVoid},
      {void_line({.id = "v4", .of = "u"})},
      {void_line({.id = "v5", .of = "g"})},
      {void_line({.id = "v6", .of = "c"})},
      {void_line({.id = "v7", .of = "b"})},
      {void_line({.id = "v8", .of = "v4"}), Verdict::kVoid},
      {void_line({.id = "v9", .of = "v9"}), Verdict::kVoid},  // itself
      {void_line({.id = "v10", .of = "u"})},                  // again, to no effect
      {void_line({.id = "v4", .of = "u"}), Verdict::kDuplicate},
  });
  EXPECT_EQ(counts, (LineCounts{.lines = 18, .accepted = 12, .duplicates = 1, .refused_void = 5, .voided = 4}));
}

TEST(Acceptance, WhatIsVoidedBlocksNothingAndRevivesNothing) {
  LineLedger ledger({
      price_line("p", kNovember, 1000),
      gpu_line("g1", hours(kNovember, 1), {.capacity = 1}),
      use_line("a", hours(kNovember, 1), {.weight = 1, .tenant = "a"}),
      budget_line("b1", {.micro_usd = 1}),
  });
  const std::vector<Step> steps = {
      {use_line("b", hours(kNovember, 1), {.weight = 1, .tenant = "b"}), Verdict::kOverlap},
      {gpu_line("g2", hours(kNovember, 2)), Verdict::kOverlap},
      {budget_line("b2", {.micro_usd = 2}), Verdict::kConflict},
      {void_line({.id = "v1", .of = "a"})},
      {void_line({.id = "v2", .of = "g1"})},
      {void_line({.id = "v3", .of = "b1"})},
      {void_line({.id = "v4", .of = "b"})},  // of a refused event: no effect
      {void_line({.id = "v5", .of = "g2"})},
      {void_line({.id = "v6", .of = "b2"})},
      {use_line("a", hours(kNovember, 1), {.weight = 1, .tenant = "a"}), Verdict::kDuplicate},
      {use_line("c", hours(kNovember, 1), {.weight = 1, .tenant = "c"})},
      {gpu_line("g3", hours(kNovember, 1), {.capacity = 2})},
      {budget_line("b3", {.micro_usd = 3})},
      // The places of those that came in between are taken again.
      {void_line({.id = "v7", .of = "a"})},
      {use_line("d", hours(kNovember, 1), {.weight = 1, .tenant = "d"}), Verdict::kOverlap},
  };
  for (const Step& step : steps) EXPECT_EQ(name_of(ledger.take(step.line)), name_of(step.verdict)) << step.line;
  EXPECT_EQ(ledger.report().counts.voided, 3U);
  EXPECT_THAT(row_texts(ledger.report()), ElementsAre("2026-11 //h100/idle: 1800000000 us, 1800000000000 grains, 500",
                                                      "2026-11 c/chat/h100/inference: 1800000000 us, 1800000000000 "
                                                      "grains, 500"));
  ASSERT_EQ(ledger.books().budgets().size(), 1U);
  EXPECT_EQ(ledger.books().budgets()[0].micro_usd_per_month, 3);
}

TEST(Acceptance, AVoidWaitsForItsTarget) {
  LineLedger ledger({price_line("p", kNovember, 1000), gpu_line("g", hours(kNovember, 1)),
                     use_line("taken", hours(kNovember, 1), {.slice = "1", .weight = 28})});
  const std::vector<Step> steps = {
      {void_line({.id = "v1", .of = "u"})},
      {void_line({.id = "v2", .of = "refused"})},
      {void_line({.id = "v3", .of = "q"})},
      {void_line({.id = "v4", .of = "c"})},
      {void_line({.id = "v5", .of = "b"})},
      {void_line({.id = "v6", .of = "h"})},
      {void_line({.id = "v7", .of = "never"})},
      {use_line("u", hours(kNovember, 1), {.weight = 28})},
      {use_line("u", hours(kNovember, 1), {.weight = 28}), Verdict::kDuplicate},  // is not voided once more
      {use_line("refused", hours(kNovember, 1), {.slice = "1"}), Verdict::kOverlap},
      {price_line("q", kNovember + kHour / 2, 3000)},  // untouched
      {credit_line("c", {.micro_usd = 1})},
      {budget_line("b", {.micro_usd = 1})},
      {gpu_line("h", hours(kNovember, 1), {.gpu = "h"})},
      {use_line("w", hours(kNovember, 1), {.weight = 14})},  // where u was
      {budget_line("b1", {.micro_usd = 1})},
  };
  for (const Step& step : steps) EXPECT_EQ(name_of(ledger.take(step.line)), name_of(step.verdict)) << step.line;
  const Report report = ledger.report();
  EXPECT_EQ(report.counts.voided, 4U);
  // 500 + 1500 for the hour; h is not paid for.
  EXPECT_EQ(report.micro_usd, 2000);
  ASSERT_EQ(ledger.books().credits().size(), 1U);
  EXPECT_EQ(ledger.books().credits()[0].line, 15U);
  EXPECT_EQ(ledger.books().credits()[0].voided_line, 15U);
  EXPECT_EQ(ledger.books().budgets().size(), 1U);
}

// From time to money

TEST(Cells, DivideTheirTimeAndMoneyByWeight) {
  EXPECT_THAT(rows_of({price_line("p", kNovember, 1000), gpu_line("g", hours(kNovember, 1), {.owner = "zeta"}),
                       use_line("u", hours(kNovember, 1), {.weight = 14}),
                       use_line("s", hours(kNovember, 1),
                                {.slice = "s", .weight = 7, .tenant = "", .service = "", .role = Role::kStranded})}),
              ElementsAre("2026-11 //h100/stranded: 450000000 us, 450000000000 grains, 125",
                          "2026-11 acme/chat/h100/inference: 900000000 us, 900000000000 grains, 250",
                          "2026-11 zeta//h100/idle: 2250000000 us, 2250000000000 grains, 625"));
}

TEST(Cells, AreCutAtMidnight) {
  // Capacity 2, weight 1: 3 us at 1 on both sides of midnight are 2 grains for the use and 1 for idle, twice. One cell
  // of 6 us would be 3 and 3.
  EXPECT_THAT(
      rows_of({price_line("p", kNovember, 1), gpu_line("g", micros(kNovember + kMicrosPerDay - 3, 6), {.capacity = 2}),
               use_line("u", micros(kNovember + kMicrosPerDay - 3, 6), {.weight = 1})}),
      ElementsAre("2026-11 //h100/idle: 2 us, 2 grains, 0", "2026-11 acme/chat/h100/inference: 4 us, 4 grains, 0"));
}

TEST(Cells, BelongToTheirMonths) {
  EXPECT_THAT(rows_of({price_line("p", kNovember, 1000), gpu_line("g", hours(kDecember - kHour, 3)),
                       use_line("u", hours(kDecember - kHour, 3))}),
              ElementsAre("2026-11 acme/chat/h100/inference: 3600000000 us, 3600000000000 grains, 1000",
                          "2026-12 acme/chat/h100/inference: 7200000000 us, 7200000000000 grains, 2000"));
}

TEST(Cells, AreCutAtPrices) {
  // An hour at 1000, one at 3000, one at 0; the price before the first does not exist.
  LineLedger ledger({price_line("p2", kNovember + kHour, 3000), price_line("p1", kNovember, 1000),
                     price_line("p3", kNovember + 2 * kHour, 0), gpu_line("g", hours(kNovember - kHour, 4)),
                     use_line("u", hours(kNovember - kHour, 4), {.weight = 28})});
  EXPECT_THAT(row_texts(ledger.report()),
              ElementsAre("2026-11 //h100/idle: 5400000000 us, 7200000000000 grains, 2000",
                          "2026-11 acme/chat/h100/inference: 5400000000 us, 7200000000000 grains, 2000"));
  EXPECT_EQ(ledger.report().unpriced_us, kHour);
  // A price that comes last counts from its instant on as well.
  ledger.take(price_line("p0", kNovember - kHour / 2, 400));
  EXPECT_EQ(ledger.report().unpriced_us, kHour / 2);
  EXPECT_EQ(ledger.report().micro_usd, 4200);
  ledger.take(price_line("other sku", kNovember - kHour, 400, "a100"));
  EXPECT_EQ(ledger.report().micro_usd, 4200);
}

TEST(Cells, UsesWithoutAGpuCostNothing) {
  LineLedger ledger({price_line("p", kNovember, 1000), gpu_line("g1", hours(kNovember + kHour, 1)),
                     gpu_line("g2", hours(kNovember + 3 * kHour, 1)),
                     use_line("u", hours(kNovember, 4)),  // an hour before, an hour in between
                     use_line("v", hours(kNovember + 2 * kHour, 1), {.slice = "1"}),
                     use_line("w", hours(kNovember, kNovemberHours), {.gpu = "nowhere"})});
  EXPECT_EQ(ledger.report().unbacked_us, kHour * (2 + 1 + kNovemberHours));
  EXPECT_EQ(ledger.report().micro_usd, 2000);
  ledger.take(gpu_line("g3", hours(kNovember + 2 * kHour, 1)));
  EXPECT_EQ(ledger.report().unbacked_us, kHour * (1 + kNovemberHours));
  EXPECT_EQ(ledger.report().micro_usd, 3000);
}

TEST(Cells, OfUnpricedGpusAreCounted) {
  LineLedger ledger({gpu_line("g", hours(kNovember, 1440)), use_line("u", hours(kNovember, 1), {.weight = 1})});
  EXPECT_EQ(ledger.report().unpriced_us, 60 * kMicrosPerDay);
  EXPECT_THAT(ledger.report().months, IsEmpty());
  ledger.take(price_line("p", kNovember + 10 * kMicrosPerDay, 0));  // a price, too
  EXPECT_EQ(ledger.report().unpriced_us, 10 * kMicrosPerDay);
  EXPECT_THAT(ledger.report().months, IsEmpty());
}

TEST(Cells, TheSkuIsThatOfThePaidTime) {
  EXPECT_THAT(
      rows_of({price_line("p", kNovember, 1000), price_line("q", kNovember, 70, "a100"),
               gpu_line("g1", hours(kNovember, 1)), gpu_line("g2", hours(kNovember + kHour, 1), {.sku = "a100"}),
               use_line("u", hours(kNovember, 2))}),
      ElementsAre("2026-11 acme/chat/a100/inference: 3600000000 us, 252000000000 grains, 70",
                  "2026-11 acme/chat/h100/inference: 3600000000 us, 3600000000000 grains, 1000"));
}

TEST(Cells, AHundredYearsAtTheHighestPriceFit) {
  const Interval always = {.from_us = 946'684'800'000'000, .to_us = 4'133'980'799'999'999};
  LineLedger ledger({price_line("p", always.from_us, 1'000'000'000'000'000),
                     gpu_line("g", always, {.capacity = 1'000'000}),
                     use_line("u", {.from_us = always.to_us - 1, .to_us = always.to_us}, {.weight = 1'000'000}),
                     use_line("v", always, {.slice = "1", .weight = 1'000'000, .tenant = "v"})});
  const Report report = ledger.report();
  EXPECT_EQ(report.grains, Int128{1'000'000'000'000'000} * always.length_us());
  EXPECT_EQ(report.grains, report.micro_usd * kGrainsPerMicroUsd + report.carried_grains);
  EXPECT_EQ(report.months.size(), 101U * 12);
}

// Months

TEST(Booking, WhatIsLeftOverIsCarriedOn) {
  // 2 of 3 micro-dollars an hour for 40 minutes of each month: 4/3 of a micro-dollar each time.
  const auto minutes = [](std::int64_t from_us) {
    return Interval{.from_us = from_us, .to_us = from_us + kHour * 2 / 3};
  };
  LineLedger ledger({price_line("p", kNovember, 2), gpu_line("g1", minutes(kNovember)),
                     gpu_line("g2", minutes(kDecember)), gpu_line("g3", minutes(kJanuary)),
                     use_line("u1", minutes(kNovember)), use_line("u2", minutes(kDecember)),
                     use_line("u3", minutes(kJanuary))});
  EXPECT_THAT(row_texts(ledger.report()),
              ElementsAre("2026-11 acme/chat/h100/inference: 2400000000 us, 4800000000 grains, 1",
                          "2026-12 acme/chat/h100/inference: 2400000000 us, 4800000000 grains, 1",
                          "2027-01 acme/chat/h100/inference: 2400000000 us, 4800000000 grains, 2"));
  EXPECT_EQ(ledger.report().carried_grains, 0);
  EXPECT_EQ(ledger.report().micro_usd, 4);
}

TEST(Booking, ACarryWaitsOverMonthsWithoutTheRow) {
  LineLedger ledger({price_line("p", kNovember, 1), gpu_line("g1", micros(kNovember, kHour - 1)),
                     gpu_line("g2", micros(kJanuary, 1)), use_line("u1", micros(kNovember, kHour - 1)),
                     use_line("u2", micros(kJanuary, 1)), close_line("c", november_month())});
  EXPECT_THAT(row_texts(ledger.report()),
              ElementsAre("2026-11 acme/chat/h100/inference: 3599999999 us, 3599999999 grains, 0",
                          "2027-01 acme/chat/h100/inference: 1 us, 1 grains, 1"));
}

TEST(Booking, EachRowHasACarryOfItsOwn) {
  LineLedger ledger({price_line("p", kNovember, 1), gpu_line("g1", micros(kNovember, kHour), {.capacity = 2}),
                     use_line("u1", micros(kNovember, kHour), {.weight = 1})});
  EXPECT_EQ(ledger.report().micro_usd, 0);
  EXPECT_EQ(ledger.report().carried_grains, kGrainsPerMicroUsd);
  const TrialBalance trial = ledger.books().trial_balance();
  std::vector<std::string> accounts;
  accounts.reserve(trial.accounts.size());
  for (const AccountBalance& account : trial.accounts) {
    accounts.push_back(fmt::format("{} {}: {}", name_of(account.kind), account.name, account.grains));
  }
  EXPECT_THAT(accounts,
              ElementsAre("sku h100: -3600000000", "tenant acme: 0", "idle : 0", "carry //h100/idle/usage: 1800000000",
                          "carry acme/chat/h100/inference/usage: 1800000000"));
}

/// A GPU at 1000 for one hour in November, unused; November is closed.
std::vector<std::string> idle_november() {
  return {price_line("p", kNovember, 1000), gpu_line("g", hours(kNovember, 1), {.capacity = 2}),
          close_line("c1", november_month())};
}

TEST(Booking, LateLinesAreCorrectionsOfTheNextOpenMonth) {
  LineLedger ledger(idle_november());
  ledger.take(use_line("u", hours(kNovember, 1), {.weight = 1}));
  EXPECT_THAT(row_texts(ledger.report()),
              ElementsAre("2026-11 //h100/idle: 3600000000 us, 3600000000000 grains, 1000",
                          "2026-12 //h100/idle of 2026-11: -1800000000 us, -1800000000000 grains, -500",
                          "2026-12 acme/chat/h100/inference of 2026-11: 1800000000 us, 1800000000000 grains, 500"));
  EXPECT_TRUE(ledger.report().months[0].is_closed);
  EXPECT_FALSE(ledger.report().months[1].is_closed);
  // With the close of December they are fixed, and nothing is left to correct.
  ledger.take(close_line("c2", december_month()));
  EXPECT_EQ(ledger.report().months.size(), 2U);
  EXPECT_TRUE(ledger.report().months[1].is_closed);
}

TEST(Booking, CorrectionsAreCorrected) {
  LineLedger ledger(idle_november());
  ledger.take(use_line("u", hours(kNovember, 1), {.weight = 1}));
  ledger.take(close_line("c2", december_month()));
  ledger.take(void_line({.id = "v", .of = "u"}));
  ledger.take(use_line("w", {.from_us = kNovember, .to_us = kNovember + kHour / 2}, {.weight = 1}));
  EXPECT_THAT(row_texts(ledger.report()),
              ElementsAre("2026-11 //h100/idle: 3600000000 us, 3600000000000 grains, 1000",
                          "2026-12 //h100/idle of 2026-11: -1800000000 us, -1800000000000 grains, -500",
                          "2026-12 acme/chat/h100/inference of 2026-11: 1800000000 us, 1800000000000 grains, 500",
                          "2027-01 //h100/idle of 2026-11: 900000000 us, 900000000000 grains, 250",
                          "2027-01 acme/chat/h100/inference of 2026-11: -900000000 us, -900000000000 grains, -250"));
  // Taken back before January is closed, and put right: no trace of it.
  ledger.take(void_line({.id = "v2", .of = "w"}));
  ledger.take(use_line("x", hours(kNovember, 1), {.weight = 1}));
  EXPECT_EQ(ledger.report().months.size(), 2U);
  ledger.take(close_line("c3", january_month()));
  EXPECT_EQ(ledger.report().months.size(), 2U);
}

TEST(Booking, CorrectionsAreRoundedDownWithACarryForEachMonthCorrected) {
  // An hour at 1: half of it is half a micro-dollar. Idle goes down by that: -1, and half is carried on.
  LineLedger ledger({price_line("p", kNovember, 1), gpu_line("g", hours(kNovember, 1), {.capacity = 2}),
                     gpu_line("h", hours(kDecember, 1), {.capacity = 2}), close_line("c1", november_month()),
                     use_line("u", hours(kNovember, 1), {.weight = 1}), close_line("c2", december_month())});
  EXPECT_THAT(row_texts(ledger.report()),
              ElementsAre("2026-11 //h100/idle: 3600000000 us, 3600000000 grains, 1",
                          "2026-12 //h100/idle of 2026-11: -1800000000 us, -1800000000 grains, -1",
                          "2026-12 //h100/idle: 3600000000 us, 3600000000 grains, 1",
                          "2026-12 acme/chat/h100/inference of 2026-11: 1800000000 us, 1800000000 grains, 0"));
  EXPECT_EQ(ledger.report().carried_grains, kGrainsPerMicroUsd);
  // The use of December has a carry of its own, that of November is used when its use goes.
  ledger.take(use_line("w", hours(kDecember, 1), {.weight = 1}));
  ledger.take(void_line({.id = "v", .of = "u"}));
  const std::vector<std::string> rows = row_texts(ledger.report());
  EXPECT_THAT(std::vector<std::string>(rows.begin() + 4, rows.end()),
              ElementsAre("2027-01 //h100/idle of 2026-11: 1800000000 us, 1800000000 grains, 1",
                          "2027-01 //h100/idle of 2026-12: -1800000000 us, -1800000000 grains, -1",
                          "2027-01 acme/chat/h100/inference of 2026-11: -1800000000 us, -1800000000 grains, 0",
                          "2027-01 acme/chat/h100/inference of 2026-12: 1800000000 us, 1800000000 grains, 0"));
}

TEST(Booking, TheFirstCloseBooksAllMonthsBefore) {
  LineLedger ledger({price_line("p", kNovember, 1000), gpu_line("g1", hours(kNovember, 1)),
                     gpu_line("g3", hours(kJanuary, 1)), close_line("c", january_month())});
  EXPECT_THAT(row_texts(ledger.report()),
              ElementsAre("2026-11 //h100/idle: 3600000000 us, 3600000000000 grains, 1000",
                          "2027-01 //h100/idle: 3600000000 us, 3600000000000 grains, 1000"));
  for (const MonthRows& month : ledger.report().months) EXPECT_TRUE(month.is_closed);
  EXPECT_EQ(ledger.books().close_line(november_month()), 4U);
  EXPECT_EQ(ledger.books().last_closed(), january_month());
  // December, of which nothing was known, is closed as well.
  ledger.take(gpu_line("g2", hours(kDecember, 1)));
  EXPECT_EQ(row_texts(ledger.report())[2], "2027-02 //h100/idle of 2026-12: 3600000000 us, 3600000000000 grains, 1000");
}

TEST(Booking, CorrectionsComeWithTheFirstOpenMonthAlone) {
  LineLedger ledger(idle_november());
  ledger.take(use_line("u", hours(kNovember, 1), {.weight = 1}));
  ledger.take(gpu_line("h", hours(kJanuary, 1), {.capacity = 2}));
  const Report report = ledger.report();
  ASSERT_EQ(report.months.size(), 3U);
  EXPECT_EQ(report.months[1].month, december_month());
  EXPECT_EQ(report.months[1].rows.size(), 2U);
  EXPECT_EQ(report.months[1].micro_usd, 0);
  EXPECT_EQ(report.months[2].month, january_month());
  EXPECT_EQ(report.months[2].rows.size(), 1U);
}

TEST(Booking, TimeWithoutMoneyIsBookedButHasNoRow) {
  // November is closed with an hour that had no price. It can no longer get one, so late events move only time.
  LineLedger ledger({gpu_line("g", hours(kNovember, 1), {.capacity = 2}), close_line("c1", november_month()),
                     use_line("u", hours(kNovember, 1), {.weight = 1})});
  EXPECT_THAT(ledger.report().months, IsEmpty());
  EXPECT_EQ(ledger.report().unpriced_us, kHour);
  ledger.take(close_line("c2", december_month()));
  EXPECT_THAT(ledger.report().months, IsEmpty());
}

TEST(Booking, ReportsInBetweenChangeNothing) {
  LineLedger asked;
  const std::vector<std::string> lines = {
      price_line("p", kNovember, 1000),
      gpu_line("g", {.from_us = kNovember, .to_us = kFebruary}, {.capacity = 3}),
      use_line("u", {.from_us = kNovember + 5, .to_us = kJanuary + 7}, {.weight = 1}),
      close_line("c1", november_month()),
      use_line("v", {.from_us = kNovember + 9, .to_us = kFebruary - 7}, {.slice = "1", .weight = 1}),
      price_line("q", kDecember + 5, 7),
      close_line("c2", december_month()),
      void_line({.id = "x", .of = "u"}),
      close_line("c3", january_month())};
  for (const std::string& line : lines) {
    asked.take(line);
    EXPECT_EQ(asked.books().trial_balance().sum, 0);
    EXPECT_EQ(asked.report(), asked.report());
  }
  EXPECT_EQ(asked.report(), LineLedger(lines).report());
}

// Queries

TEST(Books, EntriesAreCutAtTheWindow) {
  LineLedger ledger({price_line("p", kNovember, 1000),
                     gpu_line("g", hours(kNovember, 48), {.capacity = 2, .owner = "zeta"}),
                     use_line("u", hours(kNovember + 23 * kHour, 2), {.weight = 1})});
  std::vector<std::string> entries;
  ledger.books().for_each_entry(hours(kNovember + 22 * kHour, 2), [&](const DayEntry& entry) {
    entries.push_back(fmt::format("{} {} {}/{}/{}/{}: {} us, {}", entry.day - day_of(kNovember), entry.gpu,
                                  entry.tenant, entry.service, entry.sku, name_of(entry.role), entry.amount.gpu_us,
                                  floor_divide(entry.amount.grains, kGrainsPerMicroUsd)));
  });
  EXPECT_THAT(entries, ::testing::UnorderedElementsAre("0 g zeta//h100/idle: 5400000000 us, 1500",
                                                       "0 g acme/chat/h100/inference: 1800000000 us, 500"));
}

TEST(Books, CellPartsSayHowACellWasDivided) {
  LineLedger ledger(
      {price_line("p", kNovember, 1), gpu_line("g", micros(kNovember, 60), {.owner = "zeta"}),
       use_line("b", micros(kNovember, 60), {.slice = "4g", .weight = 32}),
       use_line("a", micros(kNovember + 30, 30), {.slice = "3g", .weight = 28, .tenant = "b", .role = Role::kJob}),
       gpu_line("h", micros(kNovember - 1, 1), {.gpu = "h", .sku = "unpriced"})});
  std::vector<std::string> parts;
  ledger.books().for_each_cell_part({.from_us = kNovember - 10, .to_us = kNovember + 50}, [&](const CellPart& part) {
    parts.push_back(fmt::format("[{}, {}) {} {} {}/{} {}/{}/{} at {}: {} us, {} grains", part.when.from_us - kNovember,
                                part.when.to_us - kNovember, part.gpu, part.slice, part.weight, part.whole, part.tenant,
                                part.service, name_of(part.role),
                                part.micro_usd_per_gpu_hour ? fmt::format("{}", *part.micro_usd_per_gpu_hour) : "-",
                                part.amount.gpu_us, part.amount.grains));
  });
  // 30 us x 32/56 = 17.14, 12.86 idle. 20 us x 28/60 = 9.33 for 3g, 10.67 for 4g.
  EXPECT_THAT(parts, ElementsAre("[0, 30) g 4g 32/56 acme/chat/inference at 1: 17 us, 17 grains",
                                 "[0, 30) g  24/56 zeta//idle at 1: 13 us, 13 grains",
                                 "[30, 50) g 3g 28/60 b/chat/job at 1: 9 us, 9 grains",
                                 "[30, 50) g 4g 32/60 acme/chat/inference at 1: 11 us, 11 grains",
                                 "[-1, 0) h  56/56 //idle at -: 1 us, 0 grains"));
}

TEST(Books, PaidTimeIsFromTheFirstToTheLast) {
  LineLedger ledger({gpu_line("a", hours(kDecember, 1)), gpu_line("b", hours(kNovember, 1), {.gpu = "h"}),
                     gpu_line("c", hours(kNovember, 1)), use_line("u", hours(kJanuary, 1))});
  EXPECT_EQ(ledger.books().paid_time(), (Interval{.from_us = kNovember, .to_us = kDecember + kHour}));
  ledger.take(void_line({.id = "v", .of = "a"}));
  EXPECT_EQ(ledger.books().paid_time(), hours(kNovember, 1));
}

TEST(Books, PricesAreSortedBySkuAndTime) {
  LineLedger ledger(
      {price_line("p1", kDecember, 1), price_line("p2", kNovember, 2), price_line("p3", kJanuary, 3, "a100")});
  std::vector<std::string> prices;
  for (const SkuPrice& price : ledger.books().prices()) {
    prices.push_back(fmt::format("{} {}", price.sku, price.micro_usd_per_gpu_hour));
  }
  EXPECT_THAT(prices, ElementsAre("a100 3", "h100 2", "h100 1"));
}

TEST(Books, TenantsAreKnownFromAnyAcceptedEvent) {
  LineLedger ledger({use_line("u", hours(kNovember, 1)), gpu_line("g", hours(kNovember, 1), {.owner = "owner"}),
                     credit_line("c", {.tenant = "credited", .micro_usd = 1}),
                     budget_line("b", {.tenant = "planned", .micro_usd = 1})});
  for (const char* tenant : {"acme", "owner", "credited", "planned"}) EXPECT_TRUE(ledger.books().has_tenant(tenant));
  for (const char* tenant : {"chat", "g", "h100", "nobody", "inference"}) {
    EXPECT_FALSE(ledger.books().has_tenant(tenant)) << tenant;
  }
}

TEST(Books, MoveWithWhatTheyKnow) {
  std::string text = price_line("p", kNovember, 1000) + "\n" + gpu_line("g", hours(kNovember, 1)) + "\n";
  Books books([&](std::uint64_t position) { return line_at(text, position); });
  EventLines lines(text, "f");
  while (lines.next().value()) books.take(lines.line());
  Books moved = std::move(books);
  EXPECT_EQ(moved.report().micro_usd, 1000);
  EXPECT_EQ(moved.trial_balance().sum, 0);
}

TEST(RowKey, RowsAreSortedByTheBytesOfTheirKeys) {
  const RowKey base{.tenant = "b", .service = "b", .sku = "b", .role = Role::kJob};
  const auto with = [&](auto member, auto value) {
    RowKey key = base;
    key.*member = value;
    return key;
  };
  const std::vector<RowKey> sorted = {
      with(&RowKey::tenant, ""),
      with(&RowKey::tenant, "B"),
      with(&RowKey::tenant, "a"),
      with(&RowKey::service, "a"),
      with(&RowKey::sku, "a"),
      with(&RowKey::role, Role::kIdle),
      with(&RowKey::role, Role::kInference),
      with(&RowKey::of, november_month()),  // correction, before usage
      with(&RowKey::of, december_month()),
      base,
      with(&RowKey::role, Role::kReconfiguration),
      with(&RowKey::role, Role::kReserved),
      with(&RowKey::role, Role::kRetraining),
      with(&RowKey::role, Role::kStranded),
      with(&RowKey::sku, "b0"),
      with(&RowKey::service, "\xC3\xA9"),
      with(&RowKey::tenant, "\xC3\xA9"),
  };
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) EXPECT_EQ(is_before(sorted[i], sorted[j]), i < j) << i << " " << j;
  }
}

}  // namespace
}  // namespace berth::ledger
