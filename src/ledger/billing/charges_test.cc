#include "ledger/billing/charges.h"

#include <gtest/gtest.h>

#include "ledger/billing/testing/two_tenants.h"

namespace berth::ledger {
namespace {

using testing::TwoTenants;

TEST(Charges, SumToTheRowsWithoutTheCredits) {
  const TwoTenants ledger;
  for (const IdleRule idle : {IdleRule::kKeep, IdleRule::kProportional}) {
    const MonthCharges charges = ledger.charges(idle);
    EXPECT_EQ(charges.lines_micro_usd, ledger.report().months.back().micro_usd);
    EXPECT_EQ(charges.lines_micro_usd, 22'000'010);
    EXPECT_EQ(charges.total_micro_usd, 18'000'010);
    ASSERT_EQ(charges.credits.size(), 1U);
    EXPECT_EQ(charges.credits[0].credit->id, "e10");
  }
}

TEST(Charges, AreTheInvoicesOfAllTenants) {
  const TwoTenants ledger;
  const MonthCharges kept = ledger.charges(IdleRule::kKeep);
  EXPECT_EQ(kept.lines.size(), 5U);
  const MonthCharges shared = ledger.charges(IdleRule::kProportional);
  EXPECT_EQ(shared.lines.size(), 7U);
  for (const InvoiceLine& line : shared.lines) EXPECT_NE(line.row.key.tenant, "");
}

TEST(Charges, OfAMonthWithoutRowsAreNone) {
  const TwoTenants ledger;
  const MonthCharges charges = ledger.charges(IdleRule::kProportional, TwoTenants::november().next());
  EXPECT_TRUE(charges.lines.empty());
  EXPECT_TRUE(charges.credits.empty());
  EXPECT_EQ(charges.total_micro_usd, 0);
}

TEST(NanoGpuHours, AreRoundedHalfToEven) {
  EXPECT_EQ(nano_gpu_hours(3'600'000'000), 1'000'000'000);
  EXPECT_EQ(nano_gpu_hours(1), 0);     // 0.28
  EXPECT_EQ(nano_gpu_hours(2), 1);     // 0.56
  EXPECT_EQ(nano_gpu_hours(9), 2);     // 2.5
  EXPECT_EQ(nano_gpu_hours(27), 8);    // 7.5
  EXPECT_EQ(nano_gpu_hours(-9), -2);   // -2.5
  EXPECT_EQ(nano_gpu_hours(-27), -8);  // -7.5
  EXPECT_EQ(nano_gpu_hours(-1), 0);
}

TEST(NanoGpus, AreGpuHoursByTheHoursOfTheMonth) {
  const Month november = TwoTenants::november();  // 720 hours
  constexpr GpuMicros kGpuHour = 3'600'000'000;
  EXPECT_EQ(nano_gpus(720 * kGpuHour, november), 1'000'000'000);
  EXPECT_EQ(nano_gpus(-72 * kGpuHour, november), -100'000'000);
  EXPECT_EQ(nano_gpus(kGpuHour, november), 1'388'889);                 // 1388888.89
  EXPECT_EQ(nano_gpus(1'296, november), 0);                            // 0.5
  EXPECT_EQ(nano_gpus(3'888, november), 2);                            // 1.5
  EXPECT_EQ(nano_gpus(720 * kGpuHour, november.next()), 967'741'935);  // 744 hours: 967741935.48
}

}  // namespace
}  // namespace berth::ledger
