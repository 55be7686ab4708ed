// Small files of events, each worked out by hand. A price of p for t microseconds is p x t grains; 3,600,000,000 grains
// are a micro-dollar, so p for one hour is p of them.
#include "ledger/recount/recount.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kHour = 3'600'000'000;
constexpr std::int64_t kNovember = 1793'491'200'000'000;  // 2026-11-01
constexpr std::int64_t kDecember = kNovember + 30 * kMicrosPerDay;
constexpr std::int64_t kJanuary = kDecember + 31 * kMicrosPerDay;

std::string price(std::string_view id, std::int64_t from_us, std::int64_t amount) {
  return fmt::format(R"({{"type":"price","id":"{}","sku":"h100","from_us":{},"micro_usd_per_gpu_hour":{}}})", id,
                     from_us, amount);
}

std::string gpu(std::string_view id, std::int64_t from_us, std::int64_t to_us, int capacity = 56,
                std::string_view more = "") {
  return fmt::format(R"({{"type":"gpu","id":"{}","gpu":"g","sku":"h100","capacity":{},"from_us":{},"to_us":{}{}}})", id,
                     capacity, from_us, to_us, more);
}

struct UseOptions {
  std::string slice = "0";
  int weight = 56;
  std::string tenant = "acme";
  std::string role = "inference";
};

std::string use(std::string_view id, std::int64_t from_us, std::int64_t to_us, const UseOptions& options = {}) {
  return fmt::format(
      R"({{"type":"use","id":"{}","gpu":"g","slice":"{}","weight":{},"tenant":"{}","service":"chat","role":"{}",)"
      R"("from_us":{},"to_us":{}}})",
      id, options.slice, options.weight, options.tenant, options.role, from_us, to_us);
}

std::string void_of(std::string_view id, std::string_view of) {
  return fmt::format(R"({{"type":"void","id":"{}","of":"{}"}})", id, of);
}

std::string close(std::string_view id, std::string_view month) {
  return fmt::format(R"({{"type":"close","id":"{}","month":"{}"}})", id, month);
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Report counted(const std::vector<std::string>& lines) {
  Result<Report> report = recount(text_of(lines), "events.jsonl");
  EXPECT_TRUE(report.has_value()) << report.error().message;
  if (!report) return {};
  EXPECT_EQ(report->grains, report->micro_usd * kGrainsPerMicroUsd + report->carried_grains);
  EXPECT_EQ(report->counts.lines, lines.size());
  return *report;
}

/// "2026-11 acme inference usage: GPU_US us, GRAINS grains, MICRO_USD", of all rows.
std::vector<std::string> rows_of(const Report& report) {
  std::vector<std::string> rows;
  for (const MonthRows& month : report.months) {
    for (const Row& row : month.rows) {
      rows.push_back(fmt::format("{} {} {} {}: {} us, {} grains, {}", month.month.to_string(), row.key.tenant,
                                 name_of(row.key.role), row.key.of ? "of " + row.key.of->to_string() : "usage",
                                 row.amount.gpu_us, row.amount.grains, row.micro_usd));
    }
  }
  return rows;
}

TEST(Recount, NothingIsAnEmptyReport) {
  EXPECT_EQ(recount("", "f"), Report());
  EXPECT_EQ(recount("\n \t\r\n", "f"), Report());
}

TEST(Recount, SplitsAnHourBetweenAUseAndIdle) {
  // An hour at 1000 is 1000 x 3.6e9 grains; 14 of 56 are a quarter of them.
  const Report report = counted({price("p", kNovember, 1000), gpu("g1", kNovember, kNovember + kHour),
                                 use("u", kNovember, kNovember + kHour, {.weight = 14})});
  EXPECT_THAT(rows_of(report), ElementsAre("2026-11  idle usage: 2700000000 us, 2700000000000 grains, 750",
                                           "2026-11 acme inference usage: 900000000 us, 900000000000 grains, 250"));
  EXPECT_EQ(report.micro_usd, 1000);
  EXPECT_EQ(report.counts.accepted, 3U);
  EXPECT_FALSE(report.months[0].is_closed);
}

TEST(Recount, GrainsLeftOverGoToTheLargestRemaindersThenToSlicesByBytes) {
  // 10 grains (10 us at 1) of capacity 7: weights 1 ("2"), 1 ("10"), 1 ("1"), idle 4: 10/7 is 1 remainder 3 each, 40/7
  // is 5 remainder 5. Two are left: one to idle, one to slice "1". Microseconds are split likewise.
  const Report report = counted({price("p", kNovember, 1), gpu("g1", kNovember, kNovember + 10, 7),
                                 use("a", kNovember, kNovember + 10, {.slice = "2", .weight = 1, .tenant = "two"}),
                                 use("b", kNovember, kNovember + 10, {.slice = "10", .weight = 1, .tenant = "ten"}),
                                 use("c", kNovember, kNovember + 10, {.slice = "1", .weight = 1, .tenant = "one"})});
  EXPECT_THAT(
      rows_of(report),
      ElementsAre("2026-11  idle usage: 6 us, 6 grains, 0", "2026-11 one inference usage: 2 us, 2 grains, 0",
                  "2026-11 ten inference usage: 1 us, 1 grains, 0", "2026-11 two inference usage: 1 us, 1 grains, 0"));
  EXPECT_EQ(report.carried_grains, 10);
}

TEST(Recount, IdleComesLastOfEqualRemainders) {
  // 3 us at 1, capacity 2, weight 1: 3/2 each is 1 remainder 1; the third grain goes to the use.
  const Report report = counted({price("p", kNovember, 1), gpu("g1", kNovember, kNovember + 3, 2, R"(,"owner":"zed")"),
                                 use("a", kNovember, kNovember + 3, {.weight = 1})});
  EXPECT_THAT(rows_of(report), ElementsAre("2026-11 acme inference usage: 2 us, 2 grains, 0",
                                           "2026-11 zed idle usage: 1 us, 1 grains, 0"));
}

TEST(Recount, MoreWeightThanCapacityIsScaledDown) {
  // 32 + 28 = 60 of 56: of 60 us at 1, 32 and 28, nothing idle.
  const Report report =
      counted({price("p", kNovember, 1), gpu("g1", kNovember, kNovember + 60),
               use("a", kNovember, kNovember + 60, {.slice = "4g", .weight = 32, .tenant = "a"}),
               use("b", kNovember, kNovember + 60, {.slice = "3g", .weight = 28, .tenant = "b", .role = "job"})});
  EXPECT_THAT(rows_of(report), ElementsAre("2026-11 a inference usage: 32 us, 32 grains, 0",
                                           "2026-11 b job usage: 28 us, 28 grains, 0"));
}

TEST(Recount, CutsAtPricesBordersAndMidnights) {
  // Capacity 2, weight 1, prices 1 from the midnight on and 3 from 5 us behind it; the GPU is there from 3 us before
  // to 8 us behind. [-3, 0): no price. [0, 5): 5 grains, 5/2 each, the fifth to the use: 3 and 2. [5, 8): 9 grains: 5
  // and 4; 3 us: 2 and 1. The use has 2 + 3 + 2 us, idle 1 + 2 + 1; the November part has no grains, so no row.
  const Report report =
      counted({price("p", kDecember, 1), price("q", kDecember + 5, 3), gpu("g1", kDecember - 3, kDecember + 8, 2),
               use("a", kDecember - 3, kDecember + 8, {.weight = 1})});
  EXPECT_THAT(rows_of(report),
              ElementsAre("2026-12  idle usage: 3 us, 6 grains, 0", "2026-12 acme inference usage: 5 us, 8 grains, 0"));
  EXPECT_EQ(report.unpriced_us, 3);
  EXPECT_EQ(report.grains, 14);
}

TEST(Recount, AnotherUseOfTheGpuCutsCellsToo) {
  // 4 us at 1, capacity 2; "a" (weight 1) has all of it, "b" (weight 1) begins after 1 us. [0, 1): 1 grain to "a".
  // [1, 4): 3 grains: 3/2 each, the third to slice "a". Uncut it would be 2 for "a" and idle alike.
  const Report report = counted({price("p", kNovember, 1), gpu("g1", kNovember, kNovember + 4, 2),
                                 use("a", kNovember, kNovember + 4, {.slice = "a", .weight = 1, .tenant = "a"}),
                                 use("b", kNovember + 1, kNovember + 4, {.slice = "b", .weight = 1, .tenant = "b"})});
  EXPECT_THAT(rows_of(report), ElementsAre("2026-11 a inference usage: 3 us, 3 grains, 0",
                                           "2026-11 b inference usage: 1 us, 1 grains, 0"));
}

TEST(Recount, CountsTimeOfUsesWithoutAGpu) {
  // The GPU is there for [10, 20) and [30, 40); slice 0 is used for [0, 35), slice 1 for [15, 50): 10 + 10 and 10 + 10.
  const Report report =
      counted({gpu("g1", kNovember + 10, kNovember + 20), gpu("g2", kNovember + 30, kNovember + 40),
               use("a", kNovember, kNovember + 35), use("b", kNovember + 15, kNovember + 50, {.slice = "1"})});
  EXPECT_EQ(report.unbacked_us, 40);
  EXPECT_EQ(report.unpriced_us, 20);
  EXPECT_TRUE(report.months.empty());
}

TEST(Recount, RemaindersAreCarriedFromMonthToMonth) {
  // A price of 1 for half an hour at the end of November and at the beginning of December: half a micro-dollar each.
  const Report report = counted({price("p", kNovember, 1), gpu("g1", kDecember - kHour / 2, kDecember + kHour / 2),
                                 use("u", kDecember - kHour / 2, kDecember + kHour / 2)});
  EXPECT_THAT(rows_of(report), ElementsAre("2026-11 acme inference usage: 1800000000 us, 1800000000 grains, 0",
                                           "2026-12 acme inference usage: 1800000000 us, 1800000000 grains, 1"));
  EXPECT_EQ(report.carried_grains, 0);
}

TEST(Recount, DuplicatesAndConflictsAreComparedWithTheFirstOfAnId) {
  const std::string first = use("u", kNovember, kNovember + 10);
  const std::string respelled =
      fmt::format(R"(  {{"to_us":{},"from_us":{},"role":"inf\u0065rence","service":"chat","tenant":"acme","weight":56,)"
                  R"("slice":"0","gpu":"g","id":"u","typ\u0065":"use"}} )",
                  kNovember + 10, kNovember);
  const Report report = counted({first, respelled, use("u", kNovember, kNovember + 11), first, price("u", kNovember, 1),
                                 use("v", kNovember + 5, kNovember + 6),  // overlaps
                                 use("v", kNovember + 5, kNovember + 6),  // a duplicate of it
                                 use("v", kNovember + 10, kNovember + 11)});
  EXPECT_EQ(report.counts, (LineCounts{.lines = 8, .accepted = 1, .duplicates = 3, .conflicts = 3, .overlaps = 1}));
}

TEST(Recount, AnOwnerThatIsEmptyIsNotNoOwner) {
  const Report report =
      counted({gpu("g1", kNovember, kNovember + 10), gpu("g1", kNovember, kNovember + 10, 56, R"(,"owner":"")")});
  EXPECT_EQ(report.counts, (LineCounts{.lines = 2, .accepted = 1, .conflicts = 1}));
}

TEST(Recount, OneMomentHasOnePriceBudgetAndRate) {
  const auto budget = [](std::string_view id, int amount) {
    return fmt::format(
        R"({{"type":"budget","id":"{}","tenant":"t","from_us":{},"micro_usd_per_month":{},"hard":true}})", id,
        kNovember, amount);
  };
  const auto rate = [](std::string_view id, std::string_view currency) {
    return fmt::format(R"({{"type":"rate","id":"{}","currency":"{}","from_us":{},"micro_per_usd":1}})", id, currency,
                       kNovember);
  };
  const Report report = counted({price("p", kNovember, 1), price("q", kNovember, 1), price("r", kNovember + 1, 1),
                                 budget("b", 1), budget("c", 2), void_of("v", "b"), budget("d", 3), rate("x", "EUR"),
                                 rate("y", "EUR"), rate("z", "JPY")});
  EXPECT_EQ(report.counts, (LineCounts{.lines = 10, .accepted = 7, .conflicts = 3, .voided = 1}));
}

TEST(Recount, OverlapsAreThoseOfOneSliceOrOneGpu) {
  const Report report = counted({
      gpu("g1", kNovember, kNovember + 10),
      gpu("g2", kNovember + 9, kNovember + 20),  // overlaps
      gpu("g3", kNovember + 10, kNovember + 20),
      use("a", kNovember + 5, kNovember + 10),
      use("b", kNovember, kNovember + 6),       // overlaps
      use("c", kNovember, kNovember + 20),      // overlaps, around it
      use("d", kNovember + 9, kNovember + 10),  // overlaps, inside it
      use("e", kNovember, kNovember + 5),
      use("f", kNovember, kNovember + 20, {.slice = "1"}),
  });
  EXPECT_EQ(report.counts, (LineCounts{.lines = 9, .accepted = 5, .overlaps = 4}));
}

TEST(Recount, AVoidedUseBlocksNothingAndRevivesNothing) {
  // "b" was refused because of "a"; after the void of "a" the same time is free for "c".
  const Report report = counted({price("p", kNovember, 1), gpu("g1", kNovember, kNovember + 10),
                                 use("a", kNovember, kNovember + 10, {.tenant = "a"}),
                                 use("b", kNovember, kNovember + 10, {.tenant = "b"}),  // overlaps
                                 void_of("v", "a"), use("c", kNovember, kNovember + 4, {.tenant = "c"}),
                                 void_of("w", "a"),    // again: without effect
                                 void_of("x", "b")});  // refused before: without effect
  EXPECT_EQ(report.counts, (LineCounts{.lines = 8, .accepted = 7, .overlaps = 1, .voided = 1}));
  EXPECT_THAT(rows_of(report),
              ElementsAre("2026-11  idle usage: 6 us, 6 grains, 0", "2026-11 c inference usage: 4 us, 4 grains, 0"));
}

TEST(Recount, AVoidMayComeBeforeItsTarget) {
  // "b" is refused as it would have been; "g2" is voided at once.
  const Report report =
      counted({price("p", kNovember, 1), void_of("v", "g2"), void_of("w", "b"), gpu("g2", kNovember, kNovember + 10),
               gpu("g1", kNovember, kNovember + 4), gpu("b", kNovember + 3, kNovember + 5)});
  EXPECT_EQ(report.counts, (LineCounts{.lines = 6, .accepted = 5, .overlaps = 1, .voided = 1}));
  EXPECT_EQ(report.grains, 4);
}

TEST(Recount, OtherTypesCannotBeVoided) {
  // Neither an existing price, nor a void, nor the void itself; a void of an id that comes later is accepted.
  const Report report = counted({price("p", kNovember, 1), void_of("v", "p"), void_of("w", "v"), void_of("x", "x"),
                                 void_of("y", "q"), price("q", kNovember + 2, 2), gpu("g1", kNovember, kNovember + 3)});
  EXPECT_EQ(report.counts, (LineCounts{.lines = 7, .accepted = 4, .refused_void = 3}));
  EXPECT_EQ(report.grains, 2 * 1 + 1 * 2);
}

TEST(Recount, CreditsAndBudgetsCanBeVoided) {
  const auto credit = [](std::string_view id, std::string_view more) {
    return fmt::format(R"({{"type":"credit","id":"{}","tenant":"t","at_us":{},"micro_usd":5,"reason":"slo"{}}})", id,
                       kNovember, more);
  };
  const std::string expiring = fmt::format(R"(,"expires_us":{})", kDecember);
  const Report report = counted({credit("c", expiring), credit("c", ""), credit("d", ""), void_of("v", "c"),
                                 void_of("w", "d"), void_of("x", "e"), credit("e", expiring), credit("e", expiring)});
  EXPECT_EQ(report.counts, (LineCounts{.lines = 8, .accepted = 6, .duplicates = 1, .conflicts = 1, .voided = 3}));
}

TEST(Recount, ClosesFollowEachOtherAndEndPrices) {
  const Report report =
      counted({close("a", "2026-11"), price("p", kDecember - 1, 1), price("q", kDecember, 1), close("b", "2026-11"),
               close("c", "2027-01"), close("d", "2026-12"), price("r", kJanuary - 1, 1), price("q", kJanuary - 1, 1)});
  EXPECT_EQ(report.counts,
            (LineCounts{.lines = 8, .accepted = 3, .conflicts = 1, .refused_closed = 2, .refused_close = 2}));
}

TEST(Recount, AClosedMonthIsCorrectedInTheNextOne) {
  // An hour of November at 1000 is idle when November is closed. A late use takes 14/56 of it: -250 and +250 in
  // December. It is voided before December is closed, so no correction remains; a later one takes 28/56 in January.
  const std::vector<std::string> lines = {
      price("p", kNovember, 1000),
      gpu("g1", kNovember, kNovember + kHour),
      close("n", "2026-11"),
      use("u", kNovember, kNovember + kHour, {.weight = 14}),
  };
  EXPECT_THAT(rows_of(counted(lines)),
              ElementsAre("2026-11  idle usage: 3600000000 us, 3600000000000 grains, 1000",
                          "2026-12  idle of 2026-11: -900000000 us, -900000000000 grains, -250",
                          "2026-12 acme inference of 2026-11: 900000000 us, 900000000000 grains, 250"));
  std::vector<std::string> more = lines;
  more.push_back(void_of("v", "u"));
  more.push_back(close("d", "2026-12"));
  more.push_back(use("w", kNovember, kNovember + kHour, {.weight = 28}));
  const Report report = counted(more);
  EXPECT_THAT(rows_of(report),
              ElementsAre("2026-11  idle usage: 3600000000 us, 3600000000000 grains, 1000",
                          "2027-01  idle of 2026-11: -1800000000 us, -1800000000000 grains, -500",
                          "2027-01 acme inference of 2026-11: 1800000000 us, 1800000000000 grains, 500"));
  EXPECT_TRUE(report.months[0].is_closed);
  EXPECT_FALSE(report.months[1].is_closed);
}

TEST(Recount, CorrectionsAreCorrectedWithCarriesOfTheirOwn) {
  // A price of 1 for an hour is a micro-dollar, G = 3.6e9 grains. November is closed with it idle. A use of half of it
  // comes late: idle -G/2, floored to -1 with a carry of G/2; the use G/2, 0 with a carry of G/2. December is closed,
  // the use is voided: idle +G/2 with the carry is G: 1. The use -G/2 with the carry is 0.
  const Report report =
      counted({price("p", kNovember, 1), gpu("g1", kNovember, kNovember + kHour, 2), close("n", "2026-11"),
               use("u", kNovember, kNovember + kHour, {.weight = 1}), close("d", "2026-12"), void_of("v", "u")});
  EXPECT_THAT(rows_of(report), ElementsAre("2026-11  idle usage: 3600000000 us, 3600000000 grains, 1",
                                           "2026-12  idle of 2026-11: -1800000000 us, -1800000000 grains, -1",
                                           "2026-12 acme inference of 2026-11: 1800000000 us, 1800000000 grains, 0",
                                           "2027-01  idle of 2026-11: 1800000000 us, 1800000000 grains, 1",
                                           "2027-01 acme inference of 2026-11: -1800000000 us, -1800000000 grains, 0"));
  EXPECT_EQ(report.carried_grains, 0);
}

TEST(Recount, RowsWithoutGrainsAreBookedButNotShown) {
  // A GPU without a price in a closed November: 10 us of idle are booked with 0 grains. A late use takes half of them:
  // again no grains, no rows, and the booked amounts stay consistent: the price of December changes nothing of it.
  const Report report = counted({gpu("g1", kDecember - 10, kDecember + 10, 2), close("n", "2026-11"),
                                 use("u", kDecember - 10, kDecember + 10, {.weight = 1}), price("p", kDecember, 1)});
  EXPECT_THAT(rows_of(report),
              ElementsAre("2026-12  idle usage: 5 us, 5 grains, 0", "2026-12 acme inference usage: 5 us, 5 grains, 0"));
  EXPECT_EQ(report.unpriced_us, 10);
}

TEST(Recount, TheFirstCloseClosesAllMonthsBefore) {
  // An hour around the end of November at 2: a micro-dollar in each month. A use that comes after the close of December
  // corrects both.
  const std::int64_t half = kHour / 2;
  const Report report = counted({price("p", kNovember, 2), gpu("g1", kDecember - half, kDecember + half),
                                 close("d", "2026-12"), use("u", kDecember - half, kDecember + half)});
  EXPECT_THAT(rows_of(report), ElementsAre("2026-11  idle usage: 1800000000 us, 3600000000 grains, 1",
                                           "2026-12  idle usage: 1800000000 us, 3600000000 grains, 1",
                                           "2027-01  idle of 2026-11: -1800000000 us, -3600000000 grains, -1",
                                           "2027-01  idle of 2026-12: -1800000000 us, -3600000000 grains, -1",
                                           "2027-01 acme inference of 2026-11: 1800000000 us, 3600000000 grains, 1",
                                           "2027-01 acme inference of 2026-12: 1800000000 us, 3600000000 grains, 1"));
}

TEST(Recount, TheLargestNumbersFit) {
  // A day at 10^15 with weights of 10^6 of 3 x 10^6: 8.64e10 x 1e15 grains, a third each; 8.64e25 / 3 = 2.88e25.
  const Report report =
      counted({price("p", kNovember, 1'000'000'000'000'000), gpu("g1", kNovember, kNovember + kMicrosPerDay, 1'000'000),
               use("a", kNovember, kNovember + kMicrosPerDay, {.slice = "1", .weight = 1'000'000, .tenant = "a"}),
               use("b", kNovember, kNovember + kMicrosPerDay, {.slice = "2", .weight = 1'000'000, .tenant = "b"}),
               use("c", kNovember, kNovember + kMicrosPerDay, {.slice = "3", .weight = 1'000'000, .tenant = "c"})});
  // 2.88e25 / 3.6e9 = 8e15.
  EXPECT_EQ(report.micro_usd, Int128{24'000'000'000'000'000});
  ASSERT_EQ(report.months[0].rows.size(), 3U);
  EXPECT_EQ(report.months[0].rows[2].micro_usd, Int128{8'000'000'000'000'000});
}

TEST(Recount, TakesMarksReturnsAndBlankLinesAtTheEnd) {
  const std::string lines = price("p", kNovember, 1) + "\r\n" + gpu("g1", kNovember, kNovember + 5);
  for (const std::string& text : {lines, "\xEF\xBB\xBF" + lines, lines + "\r\n", lines + "\n\n \t\r\n"}) {
    const Result<Report> report = recount(text, "f");
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->counts.lines, 2U);
    EXPECT_EQ(report->grains, 5);
  }
}

struct BadLine {
  std::string line;
  std::string message;
};

TEST(Recount, RefusesWhatIsNoEvent) {
  const std::string long_text(129, 'x');
  const std::vector<BadLine> cases = {
      {"", "wanted JSON"},
      {"5", "wanted an object"},
      {"{} {}", "wanted JSON"},
      {R"({"type":"void","of":"x"})", "id: wanted this key"},
      {R"({"type":"vide","id":"v","of":"x"})", "type: wanted one of"},
      {R"({"type":"void","id":"v","of":"x","why":"y"})", R"("why": wanted no such key)"},
      {R"({"type":"void","id":"v","of":"x","of":"x"})", "wanted each key once"},
      {R"({"type":"void","id":"v","of":5})", "of: wanted a text"},
      {R"({"type":"void","id":"v","of":null})", "of: wanted a text"},
      {R"({"type":"void","id":"v","of":["x"]})", "found a list"},
      {R"({"type":"void","id":"v","of":")" + long_text + R"("})", "of: wanted a text of at most 128 bytes"},
      {R"({"type":"void","id":")" + long_text + R"(","of":"v"})", "id: wanted a text of at most 128 bytes"},
      {R"({"type":"void","id":"v","of":"x"})" + std::string(4096, ' '), "wanted at most 4096 bytes"},
      {"\xEF\xBB\xBF"
       R"({"type":"void","id":"v","of":"x"})",
       "byte-order mark"},
      {price("p", kNovember, -1), "micro_usd_per_gpu_hour: wanted an integer from 0 to 1000000000000000"},
      {price("p", kNovember, 1'000'000'000'000'001), "micro_usd_per_gpu_hour: wanted"},
      {price("p", 946'684'800'000'000 - 1, 1), "from_us: wanted"},
      {R"({"type":"price","id":"p","sku":"s","from_us":1e15,"micro_usd_per_gpu_hour":1})", "from_us: wanted"},
      {R"({"type":"price","id":"p","sku":"s","from_us":1793491200000000,"micro_usd_per_gpu_hour":1.0})",
       "hour: wanted"},
      {R"({"type":"price","id":"p","sku":"s","from_us":1793491200000000,"micro_usd_per_gpu_hour":"1"})",
       "hour: wanted"},
      {gpu("g1", kNovember, kNovember), "to_us: wanted a time after from_us"},
      {gpu("g1", kNovember, 4'133'980'800'000'000), "to_us: wanted"},
      {gpu("g1", kNovember, kDecember, 0), "capacity: wanted an integer from 1 to 1000000"},
      {gpu("g1", kNovember, kDecember, 1'000'001), "capacity: wanted"},
      {gpu("g1", kNovember, kDecember, 1, R"(,"owner":null)"), "owner: wanted"},
      {use("u", kNovember, kDecember, {.tenant = ""}), "tenant: wanted a text that is not empty"},
      {use("u", kNovember, kDecember, {.role = "idle"}), "role: wanted one of"},
      {close("c", "1999-12"), "month: wanted a month from 2000-01 to 2100-12"},
      {close("c", "2101-01"), "month: wanted"},
      {close("c", "2026-1"), "month: wanted"},
  };
  for (const BadLine& bad : cases) {
    const Result<Report> report = recount(text_of({price("first", kNovember, 1), bad.line, "x"}), "events.jsonl");
    ASSERT_FALSE(report.has_value()) << bad.line;
    EXPECT_EQ(report.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(report.error().message, StartsWith("events.jsonl:2:"));
    EXPECT_THAT(report.error().message, HasSubstr(bad.message)) << bad.line;
  }
}

TEST(Recount, TakesWhatIsNobodys) {
  const Report report = counted({price("p", kNovember, 1), gpu("g1", kNovember, kNovember + 5),
                                 use("u", kNovember, kNovember + 2, {.tenant = "", .role = "stranded"}),
                                 use("v", kNovember + 2, kNovember + 3, {.tenant = "", .role = "reconfiguration"})});
  EXPECT_THAT(rows_of(report),
              ElementsAre("2026-11  idle usage: 2 us, 2 grains, 0", "2026-11  reconfiguration usage: 1 us, 1 grains, 0",
                          "2026-11  stranded usage: 2 us, 2 grains, 0"));
}

TEST(Recount, SaysHowFarItIs) {
  std::string text;
  for (int i = 0; i < 100'001; ++i) text += void_of("v", "w") + "\n";
  std::vector<std::uint64_t> seen;
  ASSERT_TRUE(recount(text, "f", [&](std::uint64_t lines) { seen.push_back(lines); }).has_value());
  EXPECT_THAT(seen, ElementsAre(100'000U));
}

}  // namespace
}  // namespace berth::ledger
