#include "ledger/billing/month_hash.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ledger/billing/invoice.h"
#include "ledger/books/testing/line_ledger.h"
#include "live/chain/field_hash.h"

namespace berth::ledger {
namespace {

Month november() { return Month::of(1'795'000'000'000'000); }

constexpr const char* kPrice =
    R"({"type":"price","id":"p","sku":"a","from_us":1793491200000000,"micro_usd_per_gpu_hour":7})";
constexpr const char* kGpu =
    R"({"type":"gpu","id":"g","gpu":"g","sku":"a","capacity":2,"from_us":1793491200000000,"to_us":1793498400000000})";
constexpr const char* kUse = R"({"type":"use","id":"u","gpu":"g","slice":"0","weight":1,"tenant":"t","service":"s",)"
                             R"("role":"job","from_us":1793491200000000,"to_us":1793498400000000})";
constexpr const char* kCredit =
    R"({"type":"credit","id":"c","tenant":"t","at_us":1793491200000000,"micro_usd":3,"reason":"slo"})";
constexpr const char* kSecondCredit =
    R"({"type":"credit","id":"b","tenant":"t","at_us":1793491200000001,"micro_usd":9,)"
    R"("reason":"free","expires_us":1893456000000000})";
constexpr const char* kRate =
    R"({"type":"rate","id":"r","currency":"EUR","from_us":1793491200000000,"micro_per_usd":5})";
constexpr const char* kClose = R"({"type":"close","id":"x","month":"2026-11"})";
constexpr const char* kLate = R"({"type":"use","id":"l","gpu":"g","slice":"1","weight":1,"tenant":"t","service":"s",)"
                              R"("role":"job","from_us":1793491200000000,"to_us":1793494800000000})";

/// A ledger with its report.
struct Hashed {
  explicit Hashed(const std::vector<std::string>& lines) : ledger(lines), report(ledger.report()) {}
  [[nodiscard]] const Books& books() { return ledger.books(); }
  [[nodiscard]] std::optional<std::string> hash(Month month = november()) { return month_hash(books(), report, month); }

  testing::LineLedger ledger;
  Report report;
};

TEST(MonthHash, AnOpenMonthHasNone) {
  Hashed open({kPrice, kGpu, kUse});
  EXPECT_FALSE(open.hash());
  Hashed closed({kPrice, kGpu, kUse, kClose});
  EXPECT_TRUE(closed.hash());
  EXPECT_FALSE(closed.hash(november().next()));
}

TEST(MonthHash, IsThatOfTheFieldsInTheContract) {
  chain::FieldHash hash("ledger month 1");
  hash.add("2026-11").add("2");
  hash.add("").add("").add("a").add("idle").add("usage").add("").add("3600000000").add("25200000000").add("7");
  hash.add("t").add("s").add("a").add("job").add("usage").add("").add("3600000000").add("25200000000").add("7");
  hash.add("2");
  hash.add("b").add("t").add("1793491200000001").add("9").add("free").add("1893456000000000");
  hash.add("c").add("t").add("1793491200000000").add("3").add("slo").add("");
  hash.add("1").add("EUR").add("1793491200000000").add("5");
  EXPECT_EQ(Hashed({kPrice, kGpu, kUse, kCredit, kSecondCredit, kRate, kClose}).hash(), chain::hex_of(hash.finish()));
}

TEST(MonthHash, StaysAsItWasWhateverComesLater) {
  const auto hash = Hashed({kPrice, kGpu, kUse, kCredit, kClose}).hash();
  EXPECT_EQ(Hashed({kPrice, kGpu, kUse, kCredit, kClose, kLate, kSecondCredit, kRate}).hash(), hash);
  EXPECT_EQ(Hashed({kPrice, kGpu, kUse, kCredit, kClose, R"({"type":"void","id":"v","of":"c"})"}).hash(), hash);
  EXPECT_EQ(Hashed({kCredit, kUse, kGpu, kPrice, kClose}).hash(), hash);
}

TEST(MonthHash, ChangesWithAllThatAnInvoiceIsMadeFrom) {
  const auto hash = Hashed({kPrice, kGpu, kUse, kCredit, kClose}).hash();
  EXPECT_NE(Hashed({kPrice, kGpu, kCredit, kClose}).hash(), hash);
  EXPECT_NE(Hashed({kPrice, kGpu, kUse, kClose}).hash(), hash);
  EXPECT_NE(Hashed({kPrice, kGpu, kUse, kCredit, kRate, kClose}).hash(), hash);
  EXPECT_NE(Hashed({kPrice, kGpu, kUse, kCredit, R"({"type":"void","id":"v","of":"c"})", kClose}).hash(), hash);
}

TEST(MonthHash, AMonthWithoutRowsHasOne) {
  Hashed empty({kClose});
  ASSERT_TRUE(empty.hash());
  EXPECT_NE(empty.hash(), empty.hash(Month(november().index() - 1)));
}

TEST(MonthHash, StandsOnTheInvoice) {
  Hashed closed({kPrice, kGpu, kUse, kCredit, kClose});
  const Invoicing invoicing(closed.books(), closed.report);
  const auto invoice = invoicing.invoice({.tenant = "t", .month = november()});
  ASSERT_TRUE(invoice);
  EXPECT_EQ(invoice->month_hash, closed.hash());
  EXPECT_FALSE(invoicing.invoice({.tenant = "t", .month = november().next()})->month_hash);
}

TEST(UnusedCredits, AreThoseThatNothingWasTakenFrom) {
  Hashed known({kPrice, kGpu, kUse, kCredit, kSecondCredit});
  const Invoicing invoicing(known.books(), known.report);
  const auto invoice = invoicing.invoice({.tenant = "t", .month = november()});
  ASSERT_TRUE(invoice);
  ASSERT_EQ(invoice->credits.size(), 1U);  // b expires first and covers all
  EXPECT_EQ(invoice->credits[0].left_micro_usd, 2);
  ASSERT_EQ(invoice->unused_credits.size(), 1U);
  EXPECT_EQ(invoice->unused_credits[0].credit->id, "c");
  EXPECT_EQ(invoice->unused_credits[0].left_micro_usd, 3);
  const auto next = invoicing.invoice({.tenant = "t", .month = november().next()});
  EXPECT_EQ(next->unused_credits.size(), 2U);
  EXPECT_EQ(next->unused_credits[0].left_micro_usd, 2);
}

}  // namespace
}  // namespace berth::ledger
