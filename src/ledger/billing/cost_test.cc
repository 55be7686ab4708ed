#include "ledger/billing/cost.h"

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

/// g at 1000 for the last hour of November and the first two of December, half of it used by chat; h without a price
/// for an hour, all of it used by a job; f at 0, for an hour, stranded.
class CostTest : public ::testing::Test {
 protected:
  CostTest()
      : ledger_({price_line("p", kNovember, 1000), price_line("q", kNovember, 0, "free"),
                 gpu_line("1", {.from_us = kDecember - kHour, .to_us = kDecember + 2 * kHour}, {.owner = "zeta"}),
                 use_line("2", {.from_us = kDecember - kHour, .to_us = kDecember + 2 * kHour}, {.weight = 28}),
                 gpu_line("3", hour(), {.gpu = "h", .sku = "unpriced"}),
                 use_line("4", hour(), {.gpu = "h", .tenant = "b", .service = "rank", .role = Role::kJob}),
                 gpu_line("5", hour(), {.gpu = "f", .sku = "free"}),
                 use_line("6", hour(), {.gpu = "f", .tenant = "", .service = "", .role = Role::kStranded})}) {}

  static Interval hour() { return {.from_us = kNovember, .to_us = kNovember + kHour}; }

  /// "KEY: hours h, MICRO_USD" of each row.
  [[nodiscard]] std::vector<std::string> costs(CostKey key, const DayRange& days = {.since = {}, .until = {}}) {
    std::vector<std::string> texts;
    for (const CostRow& row : cost_by(ledger_.books(), key, days)) {
      texts.push_back(fmt::format("{}: {} min, {}", row.key, row.amount.gpu_us / (kHour / 60), row.micro_usd()));
    }
    return texts;
  }

  LineLedger ledger_;
};

TEST_F(CostTest, AreSummedByOneProperty) {
  EXPECT_THAT(costs(CostKey::kTenant),
              ElementsAre(": 60 min, 0", "acme: 90 min, 1500", "b: 60 min, 0", "zeta: 90 min, 1500"));
  EXPECT_THAT(costs(CostKey::kService), ElementsAre(": 150 min, 1500", "chat: 90 min, 1500", "rank: 60 min, 0"));
  EXPECT_THAT(costs(CostKey::kSku), ElementsAre("free: 60 min, 0", "h100: 180 min, 3000", "unpriced: 60 min, 0"));
  EXPECT_THAT(costs(CostKey::kRole),
              ElementsAre("idle: 90 min, 1500", "inference: 90 min, 1500", "job: 60 min, 0", "stranded: 60 min, 0"));
  EXPECT_THAT(costs(CostKey::kGpu), ElementsAre("f: 60 min, 0", "g: 180 min, 3000", "h: 60 min, 0"));
  EXPECT_THAT(costs(CostKey::kDay),
              ElementsAre("2026-11-01: 120 min, 0", "2026-11-30: 60 min, 1000", "2026-12-01: 120 min, 2000"));
}

TEST_F(CostTest, DaysBeginWithTheFirstAndEndBeforeTheLast) {
  const auto date = [](const char* text) { return std::optional(Date::parse(text).value()); };
  EXPECT_THAT(costs(CostKey::kDay, {.since = date("2026-11-30"), .until = {}}),
              ElementsAre("2026-11-30: 60 min, 1000", "2026-12-01: 120 min, 2000"));
  EXPECT_THAT(costs(CostKey::kDay, {.since = {}, .until = date("2026-11-30")}), ElementsAre("2026-11-01: 120 min, 0"));
  EXPECT_THAT(costs(CostKey::kTenant, {.since = date("2026-11-30"), .until = date("2026-12-01")}),
              ElementsAre("acme: 30 min, 500", "zeta: 30 min, 500"));
  EXPECT_THAT(costs(CostKey::kDay, {.since = date("2026-12-02"), .until = {}}), IsEmpty());
  EXPECT_THAT(costs(CostKey::kDay, {.since = date("2026-11-30"), .until = date("2026-11-30")}), IsEmpty());
}

TEST_F(CostTest, AreWhatIsKnownNowWhateverIsClosed) {
  ledger_.take(close_line("c", Month::of(kNovember)));
  ledger_.take(void_line({.id = "v", .of = "2"}));
  EXPECT_THAT(costs(CostKey::kTenant), ElementsAre(": 60 min, 0", "b: 60 min, 0", "zeta: 180 min, 3000"));
  ledger_.take(void_line({.id = "w", .of = "1"}));
  EXPECT_THAT(costs(CostKey::kGpu), ElementsAre("f: 60 min, 0", "h: 60 min, 0"));
}

TEST(Cost, RoundsDown) {
  LineLedger ledger(
      {price_line("p", kNovember, 1), gpu_line("g", {.from_us = kNovember, .to_us = kNovember + kHour - 1})});
  EXPECT_EQ(cost_by(ledger.books(), CostKey::kGpu, {.since = {}, .until = {}}).at(0).micro_usd(), 0);
  const CostRow negative{.key = "", .amount = {.gpu_us = 0, .grains = -1}};
  EXPECT_EQ(negative.micro_usd(), -1);
}

TEST(Cost, OfAnEmptyLedgerIsNothing) {
  LineLedger ledger;
  EXPECT_TRUE(cost_by(ledger.books(), CostKey::kTenant, {.since = {}, .until = {}}).empty());
}

TEST(Cost, KeysHaveNames) {
  for (const CostKey key :
       {CostKey::kTenant, CostKey::kService, CostKey::kSku, CostKey::kRole, CostKey::kGpu, CostKey::kDay}) {
    EXPECT_EQ(cost_key_named(name_of(key)), key);
  }
  EXPECT_EQ(cost_key_named("month"), std::nullopt);
  EXPECT_EQ(cost_key_named(""), std::nullopt);
}

}  // namespace
}  // namespace berth::ledger
