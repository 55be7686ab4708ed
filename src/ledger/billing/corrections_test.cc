#include "ledger/billing/corrections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace berth::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Month month_of(std::string_view text) { return Month::parse(text).value(); }

Row correction(std::string_view of, MicroUsd micro_usd) {
  return {.key = {.tenant = "acme", .service = "chat", .sku = "a100", .of = month_of(of)},
          .amount = {},
          .micro_usd = micro_usd};
}

TEST(LaterCorrections, AreThoseOfTheMonthByTheMonthThatBooksThem) {
  Report report;
  report.months = {
      {.month = month_of("2026-10"), .is_closed = true, .rows = {Row()}},
      {.month = month_of("2026-11"),
       .is_closed = true,
       .rows = {correction("2026-10", 5), correction("2026-10", -3), correction("2026-10", 2)}},
      {.month = month_of("2026-12"), .rows = {correction("2026-10", -1), correction("2026-11", 9), Row()}}};
  const auto corrections = later_corrections(report, month_of("2026-10"));
  EXPECT_THAT(corrections, ElementsAre(LaterCorrection{.month = month_of("2026-11"), .added = 7, .taken_back = -3},
                                       LaterCorrection{.month = month_of("2026-12"), .added = 0, .taken_back = -1}));
  EXPECT_EQ(sum_of(corrections).added, 7);
  EXPECT_EQ(sum_of(corrections).taken_back, -4);
  EXPECT_THAT(later_corrections(report, month_of("2026-12")), IsEmpty());
}

TEST(BookingSentence, SaysWhichFiguresTheseAre) {
  const Month october = month_of("2026-10");
  EXPECT_EQ(booking_sentence(october, false, {}), "2026-10 is still open: it is as known now.");
  EXPECT_EQ(booking_sentence(october, true, {}),
            "2026-10 is as booked at its close; nothing that became known since then changes it.");
  const std::vector<LaterCorrection> corrections = {
      {.month = month_of("2026-11"), .added = 1'500'000, .taken_back = -1'500'001},
      {.month = month_of("2026-12"), .added = 0, .taken_back = -7}};
  EXPECT_EQ(booking_sentence(october, true, corrections),
            "2026-10 is as booked at its close. What became known since then is booked as corrections: +1.500000 and "
            "-1.500001 USD in 2026-11, -0.000007 USD in 2026-12.");
  EXPECT_EQ(text_of({}), "0 USD");
}

}  // namespace
}  // namespace berth::ledger
