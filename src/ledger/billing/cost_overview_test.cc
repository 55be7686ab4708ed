#include "ledger/billing/cost_overview.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ledger/books/testing/line_ledger.h"

namespace berth::ledger {
namespace {

/// 2026-11-16, a Monday.
constexpr std::int64_t kMonday = 20'773 * kMicrosPerDay;
constexpr std::int64_t kHour = 3'600'000'000;

/// A ledger to which each line is new.
class Ledger {
 public:
  void price(const std::string& sku, std::int64_t from_us, std::int64_t micro_usd) {
    add(fmt::format(R"("type":"price","sku":"{}","from_us":{},"micro_usd_per_gpu_hour":{})", sku, from_us, micro_usd));
  }
  void gpu(const std::string& name, std::int64_t from_us, std::int64_t to_us, const std::string& more = "") {
    add(fmt::format(R"("type":"gpu","gpu":"{}","sku":"a","capacity":56,"from_us":{},"to_us":{}{})", name, from_us,
                    to_us, more));
  }
  void use(const std::string& gpu, const std::string& tenant, const std::string& role, int weight, std::int64_t from_us,
           std::int64_t to_us) {
    add(fmt::format(R"("type":"use","gpu":"{}","slice":"{}{}","weight":{},"tenant":"{}","service":"s","role":"{}",)"
                    R"("from_us":{},"to_us":{})",
                    gpu, role, weight, weight, tenant, role, from_us, to_us));
  }
  void add(const std::string& members) {
    EXPECT_EQ(lines_->take(fmt::format("{{\"id\":\"{}\",{}}}", ++count_, members)), Verdict::kAccepted) << members;
  }
  [[nodiscard]] CostOverview overview(const OverviewRange& range = {.days = {}}) const {
    return cost_overview(lines_->books(), range);
  }

 private:
  std::unique_ptr<testing::LineLedger> lines_ = std::make_unique<testing::LineLedger>();
  int count_ = 0;
};

Grains dollars_of(std::int64_t usd) { return Int128{usd} * 1'000'000 * kGrainsPerMicroUsd; }

/// A GPU for a day at $2 an hour, half of it used by t for six hours.
Ledger one_day() {
  Ledger ledger;
  ledger.price("a", 946'684'800'000'000, 2'000'000);
  ledger.gpu("g", kMonday, kMonday + kMicrosPerDay);
  ledger.use("g", "t", "inference", 28, kMonday, kMonday + 6 * kHour);
  return ledger;
}

TEST(CostOverview, OfAnEmptyLedgerCoversNothing) {
  const CostOverview overview = Ledger().overview();
  EXPECT_FALSE(overview.when);
  EXPECT_TRUE(overview.tenants.empty());
  EXPECT_TRUE(overview.spans.empty());
}

TEST(CostOverview, SumsByTenantKindAndDay) {
  const CostOverview overview = one_day().overview();
  ASSERT_TRUE(overview.when);
  EXPECT_EQ(overview.when->length_us(), kMicrosPerDay);
  EXPECT_EQ(overview.total.grains, dollars_of(48));
  EXPECT_EQ(overview.gpu_count, 1U);
  ASSERT_EQ(overview.tenants.size(), 2U);
  EXPECT_EQ(overview.tenants[0].tenant, "");  // pays 42 of 48
  EXPECT_EQ(overview.tenants[1].tenant, "t");
  EXPECT_EQ(overview.tenants[1].kinds[0].grains, dollars_of(6));
  EXPECT_EQ(overview.tenants[0].kinds[1].grains, dollars_of(42));
  ASSERT_EQ(overview.days.size(), 2U);
  EXPECT_EQ(overview.days[0].tenant, 0U);
  EXPECT_EQ(overview.days[1].grains, dollars_of(6));
}

TEST(CostOverview, ShortTimesAreShownByHours) {
  const CostOverview overview = one_day().overview();
  EXPECT_TRUE(overview.has_hours);
  ASSERT_EQ(overview.spans.size(), 24U);
  EXPECT_EQ(overview.spans[5].kinds[0].gpu_us, kHour / 2);
  EXPECT_EQ(overview.spans[6].kinds[0].gpu_us, 0);
  EXPECT_EQ(overview.spans[6].kinds[1].gpu_us, kHour);
  Amount sum;
  for (const KindSpan& span : overview.spans) {
    for (const Amount& amount : span.kinds) sum += amount;
  }
  EXPECT_EQ(sum, overview.total);
}

TEST(CostOverview, AnHourThatIsNotAllCoveredEndsWhereTheDataEnd) {
  Ledger ledger;
  ledger.price("a", 946'684'800'000'000, 1'000'003);
  ledger.gpu("g", kMonday + 1, kMonday + kHour + 7);
  ledger.use("g", "t", "job", 13, kMonday + 2, kMonday + kHour + 3);
  const CostOverview overview = ledger.overview();
  ASSERT_EQ(overview.spans.size(), 2U);
  EXPECT_EQ(overview.spans[0].when, (Interval{.from_us = kMonday + 1, .to_us = kMonday + kHour}));
  EXPECT_EQ(overview.spans[1].when.length_us(), 7);
  Amount sum;
  for (const KindSpan& span : overview.spans) {
    for (const Amount& amount : span.kinds) sum += amount;
  }
  EXPECT_EQ(sum, overview.total);
}

TEST(CostOverview, LongTimesAreShownByDays) {
  Ledger ledger = one_day();
  ledger.gpu("h", kMonday + kMicrosPerDay, kMonday + 20 * kMicrosPerDay);
  ledger.use("h", "", "stranded", 56, kMonday + 3 * kMicrosPerDay, kMonday + 4 * kMicrosPerDay);
  const CostOverview overview = ledger.overview();
  EXPECT_FALSE(overview.has_hours);
  ASSERT_EQ(overview.spans.size(), 20U);
  EXPECT_EQ(overview.spans[3].kinds[2].gpu_us, kMicrosPerDay);
  EXPECT_EQ(overview.spans[3].kinds[1].gpu_us, 0);
  EXPECT_EQ(overview.spans[0].kinds[0].grains, dollars_of(6));
  EXPECT_EQ(overview.gpu_count, 2U);
}

TEST(CostOverview, IdleTimeOfAnOwnerIsItsOwn) {
  Ledger ledger = one_day();
  ledger.gpu("h", kMonday, kMonday + kMicrosPerDay, R"(,"owner":"t")");
  const CostOverview overview = ledger.overview();
  EXPECT_EQ(overview.tenants[0].tenant, "t");
  EXPECT_EQ(overview.tenants[0].kinds[1].grains, dollars_of(48));
  EXPECT_EQ(overview.tenants[0].total().grains, dollars_of(54));
}

TEST(CostOverview, IsCutAtDaysAndAtAnInstant) {
  Ledger ledger = one_day();
  ledger.gpu("h", kMonday + kMicrosPerDay, kMonday + 3 * kMicrosPerDay);
  const CostOverview second = ledger.overview({.days = {.since = Date(20'774), .until = Date(20'775)}});
  EXPECT_EQ(second.total.grains, dollars_of(48));
  EXPECT_EQ(second.when->from_us, kMonday + kMicrosPerDay);
  const CostOverview early = ledger.overview({.days = {}, .as_of_us = kMonday + 3 * kHour});
  EXPECT_EQ(early.total.grains, dollars_of(6));
  EXPECT_EQ(early.spans.size(), 3U);
  EXPECT_FALSE(ledger.overview({.days = {.since = Date(20'800), .until = std::nullopt}}).when);
}

TEST(CostOverview, FindsChangesOfPricesThatCount) {
  Ledger ledger = one_day();
  ledger.price("a", kMonday + 12 * kHour, 1'500'000);
  ledger.price("a", kMonday + 13 * kHour, 1'500'000);     // the same
  ledger.price("b", kMonday + 12 * kHour, 1);             // of nothing that is paid for
  ledger.price("a", kMonday + kMicrosPerDay, 1'400'000);  // behind the end
  const CostOverview overview = ledger.overview();
  ASSERT_EQ(overview.price_changes.size(), 1U);
  EXPECT_EQ(overview.price_changes[0].at_us, kMonday + 12 * kHour);
  EXPECT_EQ(overview.price_changes[0].before, 2'000'000);
  EXPECT_EQ(overview.price_changes[0].after, 1'500'000);
}

TEST(CostOverview, FindsCorrectionsOfTheMonthsCovered) {
  Ledger ledger = one_day();
  ledger.add(R"("type":"close","month":"2026-11")");
  ledger.use("g", "t", "job", 56, kMonday + 10 * kHour, kMonday + 11 * kHour);
  const CostOverview overview = ledger.overview();
  ASSERT_EQ(overview.corrections.size(), 1U);
  EXPECT_EQ(overview.corrections[0].of.to_string(), "2026-11");
  EXPECT_EQ(overview.corrections[0].booked.to_string(), "2026-12");
  EXPECT_EQ(overview.corrections[0].row_count, 2U);  // less idle, more use
  EXPECT_EQ(overview.corrections[0].micro_usd, 0);
  EXPECT_EQ(overview.corrections[0].moved_micro_usd, 2'000'000);
  EXPECT_EQ(overview.last_closed->to_string(), "2026-11");
}

TEST(CostOverview, BudgetsStandAtTheEndOfTheirMonth) {
  Ledger ledger;
  ledger.price("a", 946'684'800'000'000, 2'000'000);
  const std::int64_t month_end_us = Month::of(kMonday).end_us();
  ledger.gpu("g", month_end_us - 2 * kMicrosPerDay, month_end_us, R"(,"owner":"t")");
  ledger.add(R"("type":"budget","tenant":"t","from_us":946684800000000,"micro_usd_per_month":96000000,"hard":true)");
  ledger.add(
      fmt::format(R"("type":"budget","tenant":"t","from_us":{},"micro_usd_per_month":1,"hard":true)", month_end_us));
  const CostOverview whole = ledger.overview();
  EXPECT_EQ(whole.budgets_until_us, month_end_us);
  ASSERT_EQ(whole.budgets.size(), 1U);
  EXPECT_EQ(whole.budgets[0].budget.micro_usd_per_month, 96'000'000);  // the next month's is not in force yet
  EXPECT_EQ(whole.budgets[0].spent_micro_usd, 96'000'000);
  EXPECT_EQ(whole.budgets[0].forecast_micro_usd, 96'000'000);
  EXPECT_EQ(whole.budgets[0].state, BudgetState::kHard);
  ASSERT_EQ(whole.budgets[0].spent_by_day.size(), 30U);
  EXPECT_EQ(whole.budgets[0].spent_by_day[27], 0);
  EXPECT_EQ(whole.budgets[0].spent_by_day[28], 48'000'000);
  const CostOverview early = ledger.overview({.days = {}, .as_of_us = month_end_us - 36 * kHour});
  ASSERT_EQ(early.budgets.size(), 1U);
  EXPECT_EQ(early.budgets[0].spent_micro_usd, 24'000'000);
  EXPECT_EQ(early.budgets[0].spent_by_day.size(), 29U);
}

TEST(CostOverview, EveryRoleOfAUseHasAKind) {
  EXPECT_EQ(kind_of(Role::kReserved), SpendKind::kUsed);
  EXPECT_EQ(kind_of(Role::kReconfiguration), SpendKind::kReconfiguration);
  EXPECT_EQ(name_of(SpendKind::kStranded), "stranded");
}

}  // namespace
}  // namespace berth::ledger
