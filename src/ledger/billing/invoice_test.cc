// A GPU costs a micro-dollar an hour, so hours are micro-dollars. A month has 720 or 744 of them.
#include "ledger/billing/invoice.h"

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

Month november_month() { return Month::of(kNovember); }
Month december_month() { return Month::of(kDecember); }
Month january_month() { return Month::of(kJanuary); }

class InvoiceTest : public ::testing::Test {
 protected:
  InvoiceTest() {
    take(price_line("p", kNovember - kMicrosPerDay, 1));
    take(price_line("q", kNovember - kMicrosPerDay, 1, "a100"));
  }

  void take(const std::string& line) { EXPECT_EQ(name_of(ledger_.take(line)), name_of(Verdict::kAccepted)) << line; }
  /// A GPU that is paid for, for so many hours of a month. Its name is the id.
  void pay(const std::string& id, std::int64_t month_us, std::int64_t hours, GpuFields fields = {}) {
    fields.gpu = id;
    take(gpu_line("gpu " + id, {.from_us = month_us, .to_us = month_us + hours * kHour}, fields));
  }
  /// All of one, used.
  void spend(const std::string& id, std::int64_t month_us, std::int64_t hours, UseFields fields = {},
             std::string_view sku = "h100") {
    pay(id, month_us, hours, {.sku = sku});
    fields.gpu = id;
    take(use_line(id, {.from_us = month_us, .to_us = month_us + hours * kHour}, fields));
  }

  [[nodiscard]] Result<Invoice> result(const InvoiceRequest& request) {
    report_ = ledger_.report();
    return Invoicing(ledger_.books(), report_).invoice(request);
  }
  [[nodiscard]] Invoice invoice(const InvoiceRequest& request) {
    auto made = result(request);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    if (!made) return {};
    MicroUsd micro_usd = 0;
    MicroUsd micro = 0;
    for (const InvoiceLine& line : made->lines) {
      micro_usd += line.row.micro_usd;
      micro += line.micro;
    }
    for (const AppliedCredit& credit : made->credits) {
      micro_usd -= credit.micro_usd;
      micro -= credit.micro;
    }
    EXPECT_EQ(micro_usd, made->total_micro_usd);
    EXPECT_EQ(micro, made->total_micro);
    return *std::move(made);
  }

  LineLedger ledger_;
  Report report_;
};

/// "service/sku/role[ of MONTH]: MICRO_USD" of each line.
std::vector<std::string> invoice_lines_of(const Invoice& invoice) {
  std::vector<std::string> lines;
  for (const InvoiceLine& line : invoice.lines) {
    EXPECT_EQ(line.row.key.tenant, invoice.request.tenant);
    const std::string of = line.row.key.of ? " of " + line.row.key.of->to_string() : "";
    const std::string shared = line.row.key.role == Role::kShared ? fmt::format(" {}", name_of(line.shared_role)) : "";
    lines.push_back(fmt::format("{}/{}/{}{}{}: {}", line.row.key.service, line.row.key.sku, name_of(line.row.key.role),
                                shared, of, line.row.micro_usd));
  }
  return lines;
}

/// "ID USED, LEFT left" of each.
std::vector<std::string> credit_texts_of(const std::vector<AppliedCredit>& credits) {
  std::vector<std::string> texts;
  texts.reserve(credits.size());
  for (const AppliedCredit& credit : credits) {
    texts.push_back(fmt::format("{} {}, {} left", credit.credit->id, credit.micro_usd, credit.left_micro_usd));
  }
  return texts;
}

std::vector<MicroUsd> micros_of(const Invoice& invoice) {
  std::vector<MicroUsd> micros;
  micros.reserve(invoice.lines.size() + invoice.credits.size());
  for (const InvoiceLine& line : invoice.lines) micros.push_back(line.micro);
  for (const AppliedCredit& credit : invoice.credits) micros.push_back(-credit.micro);
  return micros;
}

TEST_F(InvoiceTest, HasTheRowsOfItsTenantAndMonth) {
  spend("1", kNovember, 10);
  spend("2", kNovember, 5, {.service = "rank", .role = Role::kJob}, "a100");
  spend("3", kNovember, 7, {.tenant = "zeta"});
  spend("4", kDecember, 3);
  pay("5", kNovember, 2);
  pay("6", kNovember, 4, {.owner = "acme"});
  const Invoice november = invoice({.tenant = "acme", .month = november_month()});
  EXPECT_THAT(invoice_lines_of(november), ElementsAre("/h100/idle: 4", "chat/h100/inference: 10", "rank/a100/job: 5"));
  EXPECT_EQ(november.total_micro_usd, 19);
  EXPECT_EQ(november.total_micro, 19);
  EXPECT_THAT(micros_of(november), ElementsAre(4, 10, 5));
  EXPECT_FALSE(november.is_closed);
  EXPECT_FALSE(november.micro_per_usd.has_value());
  EXPECT_FALSE(november.month_hash.has_value());
  EXPECT_THAT(invoice_lines_of(invoice({.tenant = "acme", .month = december_month()})),
              ElementsAre("chat/h100/inference: 3"));
  EXPECT_THAT(invoice_lines_of(invoice({.tenant = "", .month = november_month()})), ElementsAre("/h100/idle: 2"));
  const Invoice empty = invoice({.tenant = "acme", .month = january_month()});
  EXPECT_THAT(empty.lines, IsEmpty());
  EXPECT_EQ(empty.total_micro_usd, 0);
  take(close_line("c", november_month()));
  EXPECT_TRUE(invoice({.tenant = "acme", .month = november_month()}).is_closed);
  EXPECT_TRUE(invoice({.tenant = "acme", .month = november_month()}).month_hash.has_value());
  EXPECT_FALSE(invoice({.tenant = "acme", .month = december_month()}).is_closed);
}

TEST_F(InvoiceTest, EachRowOfNobodyIsSharedInProportionOnItsOwn) {
  spend("1", kNovember, 20, {.tenant = "a"});
  pay("2", kNovember, 10, {.owner = "a"});  // 30 of 40
  spend("3", kNovember, 10, {.tenant = "b"});
  spend("4", kNovember, 500, {.tenant = "b"}, "a100");  // another sku
  pay("5", kNovember, 41);
  spend("6", kNovember, 5, {.tenant = "", .service = "", .role = Role::kStranded});
  const auto proportional = [&](const char* tenant) {
    return invoice_lines_of(invoice({.tenant = tenant, .month = november_month(), .idle = IdleRule::kProportional}));
  };
  // 41 x 3/4 = 30.75, 41 / 4 = 10.25; 5 x 3/4 = 3.75, 5 / 4 = 1.25.
  EXPECT_THAT(proportional("a"), ElementsAre("/h100/idle: 10", "/h100/shared idle: 31", "/h100/shared stranded: 4",
                                             "chat/h100/inference: 20"));
  EXPECT_THAT(proportional("b"), ElementsAre("/h100/shared idle: 10", "/h100/shared stranded: 1",
                                             "chat/a100/inference: 500", "chat/h100/inference: 10"));
  EXPECT_THAT(proportional("c"), IsEmpty());
  EXPECT_THAT(proportional(""), IsEmpty());
  const Invoice shared = invoice({.tenant = "b", .month = november_month(), .idle = IdleRule::kProportional});
  EXPECT_EQ(shared.lines[0].row.amount.gpu_us, 41 * kHour / 4);
  EXPECT_EQ(shared.lines[0].row.amount.grains, 41 * kGrainsPerMicroUsd / 4);
}

TEST_F(InvoiceTest, EqualRemaindersGoToTheFirstTenantByName) {
  spend("1", kNovember, 10, {.tenant = "b"});
  spend("2", kNovember, 10, {.tenant = "a"});
  pay("3", kNovember, 1);
  const auto proportional = [&](const char* tenant) {
    return invoice_lines_of(invoice({.tenant = tenant, .month = november_month(), .idle = IdleRule::kProportional}));
  };
  EXPECT_THAT(proportional("a"), ElementsAre("/h100/shared idle: 1", "chat/h100/inference: 10"));
  EXPECT_THAT(proportional("b"), ElementsAre("/h100/shared idle: 0", "chat/h100/inference: 10"));  // half of its grains
}

TEST_F(InvoiceTest, WhatNobodyPaysForStaysWithNobody) {
  pay("1", kNovember, 3);
  pay("2", kNovember, 4, {.sku = "a100"});
  spend("3", kNovember, 5, {}, "a100");
  take(gpu_line("4", {.from_us = kNovember, .to_us = kNovember + kHour}, {.gpu = "4", .sku = "unpriced"}));
  EXPECT_THAT(invoice_lines_of(invoice({.tenant = "", .month = november_month(), .idle = IdleRule::kProportional})),
              ElementsAre("/h100/idle: 3"));
  EXPECT_THAT(invoice_lines_of(invoice({.tenant = "acme", .month = november_month(), .idle = IdleRule::kProportional})),
              ElementsAre("/a100/shared idle: 4", "chat/a100/inference: 5"));
}

TEST_F(InvoiceTest, ATenantThatIsPaidBackGetsNoShare) {
  // acme's hours of November turn out to have no tenant: -10 and +10 in December, when only zeta pays.
  spend("1", kNovember, 10);
  take(close_line("c", november_month()));
  take(void_line({.id = "v", .of = "1"}));
  const auto december = [&](const char* tenant) {
    return invoice_lines_of(invoice({.tenant = tenant, .month = december_month(), .idle = IdleRule::kProportional}));
  };
  EXPECT_THAT(december("acme"), ElementsAre("chat/h100/inference of 2026-11: -10"));
  EXPECT_THAT(december(""), ElementsAre("/h100/idle of 2026-11: 10"));
  spend("2", kDecember, 1, {.tenant = "zeta"});
  EXPECT_THAT(december("acme"), ElementsAre("chat/h100/inference of 2026-11: -10"));
  EXPECT_THAT(december(""), IsEmpty());
  EXPECT_THAT(december("zeta"), ElementsAre("/h100/shared idle of 2026-11: 10", "chat/h100/inference: 1"));
  // As much as it gets back: still nothing.
  spend("3", kDecember, 10);
  EXPECT_THAT(december("acme"), ElementsAre("chat/h100/inference of 2026-11: -10", "chat/h100/inference: 10"));
  spend("4", kDecember + 20 * kHour, 1);
  EXPECT_THAT(december("acme"), ElementsAre("/h100/shared idle of 2026-11: 5", "chat/h100/inference of 2026-11: -10",
                                            "chat/h100/inference: 11"));
}

TEST_F(InvoiceTest, ANegativeRowIsShared) {
  // Ten idle hours of November turn out to be acme's.
  pay("1", kNovember, 10);
  take(close_line("c", november_month()));
  take(use_line("u", {.from_us = kNovember, .to_us = kNovember + 10 * kHour}, {.gpu = "1"}));
  spend("2", kDecember, 20, {.tenant = "zeta"});
  // -10 by 10 and 20: -3.33 and -6.67, down to -4 and -7; the one that is left goes to the larger remainder, acme's.
  const auto december = [&](const char* tenant) {
    return invoice_lines_of(invoice({.tenant = tenant, .month = december_month(), .idle = IdleRule::kProportional}));
  };
  EXPECT_THAT(december("acme"), ElementsAre("/h100/shared idle of 2026-11: -3", "chat/h100/inference of 2026-11: 10"));
  EXPECT_THAT(december("zeta"), ElementsAre("/h100/shared idle of 2026-11: -7", "chat/h100/inference: 20"));
}

TEST_F(InvoiceTest, CreditsAreUsedInTheOrderInWhichTheyExpire) {
  spend("1", kNovember, 100);
  spend("2", kDecember, 50);
  spend("3", kJanuary, 700);
  const auto credit = [&](const char* id, std::int64_t at_us, std::int64_t micro_usd,
                          std::optional<std::int64_t> expires_us = std::nullopt, const char* tenant = "acme") {
    take(credit_line(id, {.tenant = tenant, .at_us = at_us, .micro_usd = micro_usd, .expires_us = expires_us}));
  };
  credit("later", kNovember + 5, 1000);
  credit("february", kNovember, 30, kFebruary);
  credit("december", kNovember + 7, 20, kDecember);      // may be used in November, which it outlives
  credit("expired", kNovember - kHour, 500, kNovember);  // not any more
  credit("early b", kNovember, 20);
  credit("early a", kNovember, 20);
  credit("last moment", kDecember - 1, 1, kDecember);
  credit("next month", kDecember, 500, kJanuary);
  credit("nothing", kNovember, 0);
  credit("other", kNovember, 700, std::nullopt, "zeta");
  const Invoice november = invoice({.tenant = "acme", .month = november_month()});
  EXPECT_THAT(credit_texts_of(november.credits),
              ElementsAre("december 20, 0 left", "last moment 1, 0 left", "february 30, 0 left", "early a 20, 0 left",
                          "early b 20, 0 left", "later 9, 991 left"));
  EXPECT_EQ(november.total_micro_usd, 0);
  EXPECT_THAT(november.unused_credits, IsEmpty());
  const Invoice december = invoice({.tenant = "acme", .month = december_month()});
  EXPECT_THAT(credit_texts_of(december.credits), ElementsAre("next month 50, 450 left"));
  EXPECT_THAT(credit_texts_of(december.unused_credits), ElementsAre("later 0, 991 left"));
  // The credit left from next month has expired.
  const Invoice january = invoice({.tenant = "acme", .month = january_month()});
  EXPECT_THAT(credit_texts_of(january.credits), ElementsAre("later 700, 291 left"));
  EXPECT_EQ(january.total_micro_usd, 0);
  // The amount beyond the credit is due.
  spend("4", kJanuary, 300);
  EXPECT_EQ(invoice({.tenant = "acme", .month = january_month()}).total_micro_usd, 1000 - 991);
}

TEST_F(InvoiceTest, EarlierMonthsTakeTheirCreditsFirstUnderTheSameRule) {
  spend("1", kNovember, 10);
  pay("2", kNovember, 40);
  spend("3", kDecember, 100);
  take(credit_line("c", {.micro_usd = 60}));
  EXPECT_THAT(credit_texts_of(invoice({.tenant = "acme", .month = december_month()}).credits),
              ElementsAre("c 50, 0 left"));
  EXPECT_THAT(
      credit_texts_of(invoice({.tenant = "acme", .month = december_month(), .idle = IdleRule::kProportional}).credits),
      ElementsAre("c 10, 0 left"));
}

TEST_F(InvoiceTest, ANegativeSumIsPaidBackAndUsesNoCredits) {
  spend("1", kNovember, 10);
  take(close_line("c", november_month()));
  take(void_line({.id = "v", .of = "1"}));
  take(credit_line("d", {.micro_usd = 5}));
  const Invoice december = invoice({.tenant = "acme", .month = december_month()});
  EXPECT_EQ(december.total_micro_usd, -10);
  EXPECT_THAT(december.credits, IsEmpty());
  EXPECT_THAT(credit_texts_of(december.unused_credits), ElementsAre("d 0, 5 left"));
  // It does not lessen a later month.
  spend("2", kJanuary, 3);
  EXPECT_THAT(credit_texts_of(invoice({.tenant = "acme", .month = january_month()}).credits),
              ElementsAre("d 3, 2 left"));
}

TEST_F(InvoiceTest, AClosedMonthKeepsItsCredits) {
  spend("1", kNovember, 10);
  spend("2", kDecember, 10);
  take(credit_line("voided before", {.micro_usd = 100}));
  take(void_line({.id = "v1", .of = "voided before"}));
  take(void_line({.id = "v2", .of = "voided at once"}));
  take(credit_line("voided at once", {.micro_usd = 100}));
  take(credit_line("voided later", {.micro_usd = 15}));
  const auto november = [&] { return credit_texts_of(invoice({.tenant = "acme", .month = november_month()}).credits); };
  const auto december = [&] { return credit_texts_of(invoice({.tenant = "acme", .month = december_month()}).credits); };
  EXPECT_THAT(november(), ElementsAre("voided later 10, 5 left"));
  EXPECT_THAT(december(), ElementsAre("voided later 5, 0 left"));
  take(close_line("c", november_month()));
  take(void_line({.id = "v3", .of = "voided later"}));
  take(credit_line("late", {.micro_usd = 7}));
  EXPECT_THAT(november(), ElementsAre("voided later 10, 5 left"));
  EXPECT_THAT(december(), ElementsAre("late 7, 0 left"));
  // And so does December, from its close on.
  take(close_line("d", december_month()));
  take(void_line({.id = "v4", .of = "late"}));
  take(credit_line("later", {.micro_usd = 100}));
  EXPECT_THAT(november(), ElementsAre("voided later 10, 5 left"));
  EXPECT_THAT(december(), ElementsAre("late 7, 0 left"));
}

TEST_F(InvoiceTest, TheRateIsTheLastOneBeforeTheMonthsEnd) {
  spend("1", kNovember, 100);
  take(rate_line("r3", kDecember - 1, 3'000'000));
  take(rate_line("r1", kNovember - kHour, 1'000'000));
  take(rate_line("r2", kNovember, 2'000'000));
  take(rate_line("r4", kDecember, 4'000'000));
  take(rate_line("y", kDecember - 1, 5'000'000, "JPY"));
  take(rate_line("u", kNovember, 7'000'000, "USD"));
  const auto november = [&](const char* currency) {
    return invoice({.tenant = "acme", .month = november_month(), .currency = currency});
  };
  EXPECT_EQ(november("EUR").total_micro, 300);
  EXPECT_EQ(november("EUR").total_micro_usd, 100);
  EXPECT_EQ(november("EUR").micro_per_usd, 3'000'000);
  EXPECT_EQ(november("JPY").total_micro, 500);
  EXPECT_EQ(november("USD").total_micro, 100);
  EXPECT_FALSE(november("USD").micro_per_usd.has_value());
}

TEST_F(InvoiceTest, AClosedMonthKeepsItsRates) {
  spend("1", kNovember, 100);
  spend("2", kDecember, 100);
  take(rate_line("r1", kNovember, 2'000'000));
  take(close_line("c", november_month()));
  take(rate_line("r2", kNovember + 5, 3'000'000));
  take(rate_line("y", kNovember, 5'000'000, "JPY"));
  EXPECT_EQ(invoice({.tenant = "acme", .month = november_month(), .currency = "EUR"}).total_micro, 200);
  EXPECT_EQ(invoice({.tenant = "acme", .month = december_month(), .currency = "EUR"}).total_micro, 300);
  EXPECT_EQ(invoice({.tenant = "acme", .month = december_month(), .currency = "JPY"}).total_micro, 500);
  EXPECT_EQ(result({.tenant = "acme", .month = november_month(), .currency = "JPY"}).error().message,
            "--currency: wanted one with a rate from before the end of 2026-11 (of a closed month: known at its "
            "close), found \"JPY\"");
}

TEST_F(InvoiceTest, ACurrencyWithoutARateIsRefused) {
  spend("1", kNovember, 1000);
  take(rate_line("r", kDecember, 2'000'000));
  const auto refused = result({.tenant = "acme", .month = november_month(), .currency = "EUR"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(refused.error().message,
            "--currency: wanted one with a rate from before the end of 2026-11 (of a closed month: known at its "
            "close), found \"EUR\"");
  EXPECT_TRUE(result({.tenant = "acme", .month = december_month(), .currency = "EUR"}).has_value());
  EXPECT_FALSE(result({.tenant = "acme", .month = december_month(), .currency = "eur"}).has_value());
  EXPECT_FALSE(result({.tenant = "nobody", .month = november_month(), .currency = "GBP"}).has_value());
}

TEST_F(InvoiceTest, TotalsAreRoundedHalfToEven) {
  take(rate_line("half", kNovember, 500'000));
  const auto total = [&](std::int64_t month_us) {
    return invoice({.tenant = "acme", .month = Month::of(month_us), .currency = "EUR"}).total_micro;
  };
  spend("1", kNovember, 25);  // 12.5
  EXPECT_EQ(total(kNovember), 12);
  spend("2", kNovember, 2);  // 13.5
  EXPECT_EQ(total(kNovember), 14);
  take(close_line("c", november_month()));
  take(void_line({.id = "v", .of = "1"}));
  EXPECT_EQ(total(kDecember), -12);  // -12.5
  take(void_line({.id = "w", .of = "2"}));
  EXPECT_EQ(total(kDecember), -14);  // -13.5
  take(rate_line("nothing", kDecember, 0));
  EXPECT_EQ(total(kDecember), 0);
}

TEST_F(InvoiceTest, LinesAndCreditsSumToTheTotalOfTheCurrency) {
  take(rate_line("half", kNovember, 500'000));
  spend("1", kNovember, 1);
  spend("2", kNovember, 1, {.service = "rank"});
  spend("3", kNovember, 1, {.service = "search"});
  // 0.5 each, 1.5 together: 2, which go to the first of equal remainders.
  EXPECT_THAT(micros_of(invoice({.tenant = "acme", .month = november_month(), .currency = "EUR"})),
              ElementsAre(1, 1, 0));
  // With 1 of credit: -0.5, so 1 together. Down to 0, 0, 0, -1; two are left.
  take(credit_line("c", {.micro_usd = 1}));
  const Invoice lessened = invoice({.tenant = "acme", .month = november_month(), .currency = "EUR"});
  EXPECT_THAT(micros_of(lessened), ElementsAre(1, 1, 0, -1));
  EXPECT_EQ(lessened.credits[0].micro, 1);
  EXPECT_EQ(lessened.total_micro, 1);
  // All of it: nothing is due, in any currency.
  take(credit_line("d", {.at_us = kNovember + 1, .micro_usd = 100}));
  EXPECT_EQ(invoice({.tenant = "acme", .month = november_month(), .currency = "EUR"}).total_micro, 0);
}

TEST_F(InvoiceTest, CreditsOfAllTenantsOfAMonth) {
  spend("1", kNovember, 10);
  spend("2", kNovember, 20, {.tenant = "zeta"});
  spend("3", kDecember, 30, {.tenant = "zeta"});
  pay("4", kNovember, 30);
  take(credit_line("a", {.micro_usd = 100}));
  take(credit_line("z2", {.tenant = "zeta", .at_us = kNovember + 1, .micro_usd = 100}));
  take(credit_line("z1", {.tenant = "zeta", .micro_usd = 5}));
  take(credit_line("absent", {.tenant = "nowhere", .micro_usd = 5}));
  take(credit_line("nobody", {.tenant = "", .micro_usd = 5}));
  report_ = ledger_.report();
  const Invoicing invoicing(ledger_.books(), report_);
  EXPECT_THAT(credit_texts_of(invoicing.credits_of(november_month(), IdleRule::kKeep)),
              ElementsAre("nobody 5, 0 left", "a 10, 90 left", "z1 5, 0 left", "z2 15, 85 left"));
  EXPECT_THAT(credit_texts_of(invoicing.credits_of(november_month(), IdleRule::kProportional)),
              ElementsAre("a 20, 80 left", "z1 5, 0 left", "z2 35, 65 left"));
  EXPECT_THAT(credit_texts_of(invoicing.credits_of(december_month(), IdleRule::kProportional)),
              ElementsAre("z2 30, 35 left"));
  EXPECT_THAT(invoicing.credits_of(january_month(), IdleRule::kKeep), IsEmpty());
}

}  // namespace
}  // namespace berth::ledger
