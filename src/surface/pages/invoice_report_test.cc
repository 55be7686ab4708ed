#include "surface/pages/invoice_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ledger/books/testing/line_ledger.h"
#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using ledger::IdleRule;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kNovember = 1'793'491'200'000'000;
constexpr std::int64_t kInvoiceHour = 3'600'000'000;

std::string use_line(const std::string& id, const std::string& tenant, const std::string& service,
                     const std::string& role, int from_hour, int to_hour) {
  return fmt::format(R"({{"type":"use","id":"{}","gpu":"g","slice":"{}","weight":1,"tenant":"{}","service":"{}",)"
                     R"("role":"{}","from_us":{},"to_us":{}}})",
                     id, id, tenant, service, role, kNovember + from_hour * kInvoiceHour,
                     kNovember + to_hour * kInvoiceHour);
}

/// A GPU for a day at 2.000001 dollars per hour, half of it used for ten hours; events of November follow its close.
std::vector<std::string> november(const std::string& tenant = "t", const std::string& service = "chat") {
  return {
      fmt::format(R"({{"type":"price","id":"p","sku":"a100","from_us":{},"micro_usd_per_gpu_hour":2000001}})",
                  kNovember),
      fmt::format(R"({{"type":"gpu","id":"g","gpu":"g","sku":"a100","capacity":2,"from_us":{},"to_us":{}}})", kNovember,
                  kNovember + 24 * kInvoiceHour),
      use_line("u1", tenant, service, "inference", 0, 10),
      use_line("u2", tenant, service, "retraining", 10, 11),
      fmt::format(R"({{"type":"credit","id":"c<1>","tenant":"{}","at_us":{},"micro_usd":3000000,"reason":"slo"}})",
                  tenant, kNovember),
      fmt::format(R"({{"type":"credit","id":"c2","tenant":"{}","at_us":{},"micro_usd":900000000,"reason":"prepaid",)"
                  R"("expires_us":1893456000000000}})",
                  tenant, kNovember),
      fmt::format(R"({{"type":"rate","id":"r","currency":"E<R","from_us":{},"micro_per_usd":921437}})", kNovember),
      R"({"type":"close","id":"x","month":"2026-11"})",
      use_line("late", tenant, service, "inference", 11, 12),
  };
}

/// The page of an invoice made from these lines.
std::string invoice_page_of(const std::vector<std::string>& lines, const ledger::InvoiceRequest& request) {
  ledger::testing::LineLedger ledger(lines);
  const ledger::Report report = ledger.report();
  const auto invoice = ledger::Invoicing(ledger.books(), report).invoice(request);
  EXPECT_TRUE(invoice);
  return render_invoice(*invoice);
}

std::string exact(const std::string& money) { return ">" + money + "</data>"; }

Month this_month() { return Month::of(kNovember); }

TEST(InvoiceReport, ShowsLinesByServiceAndTheTotal) {
  const std::string page = invoice_page_of(november(), {.tenant = "t", .month = this_month()});
  EXPECT_THAT(page, HasSubstr(R"(<h1 id="headline">Invoice for <bdi>t</bdi>, November 2026</h1>)"));
  EXPECT_THAT(page, HasSubstr("<dd>1 to 30 November 2026 (UTC)</dd>"));
  EXPECT_THAT(page, HasSubstr("closed: final"));
  EXPECT_THAT(page, HasSubstr("inference"));
  EXPECT_THAT(page, HasSubstr("<bdi>chat</bdi>, total"));
  EXPECT_THAT(page, HasSubstr(exact("10.000005")));  // inference: ten half hours
  EXPECT_THAT(page, HasSubstr(exact("11.000005")));  // the sum
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="GPU-hours">5.5000</td>)"));
  EXPECT_THAT(page, Not(HasSubstr(R"(<th scope="col"><bdi>E)")));
}

TEST(InvoiceReport, ShowsCreditsUsedAndLeft) {
  const std::string page = invoice_page_of(november(), {.tenant = "t", .month = this_month()});
  EXPECT_THAT(page, HasSubstr("<bdi>c2</bdi>"));
  EXPECT_THAT(page, HasSubstr("2030-01-01 00:00"));
  EXPECT_THAT(page, HasSubstr(exact("−11.000005")));
  EXPECT_THAT(page, HasSubstr(exact("888.999995")));      // left
  EXPECT_THAT(page, HasSubstr("<bdi>c&lt;1&gt;</bdi>"));  // unused, but listed
  EXPECT_THAT(page, HasSubstr("missed target (slo)"));
  EXPECT_THAT(page, HasSubstr(exact("891.999995")));  // all that is left
  EXPECT_THAT(page, HasSubstr("Total due"));
}

TEST(InvoiceReport, ShowsTheHashOfAClosedMonthOnly) {
  ledger::testing::LineLedger ledger(november());
  const ledger::Report report = ledger.report();
  const auto invoice = ledger::Invoicing(ledger.books(), report).invoice({.tenant = "t", .month = this_month()});
  EXPECT_THAT(render_invoice(*invoice), HasSubstr("<code>" + *invoice->month_hash + "</code>"));
  const std::string open = invoice_page_of(november(), {.tenant = "t", .month = this_month().next()});
  EXPECT_THAT(open, HasSubstr("The month has no hash yet"));
  EXPECT_THAT(open, HasSubstr("Total so far"));
}

TEST(InvoiceReport, CorrectionsStandApartWithTheirMonthAndReason) {
  const std::string page = invoice_page_of(november(), {.tenant = "t", .month = this_month().next()});
  EXPECT_THAT(page, HasSubstr("Nothing was used in this month."));
  EXPECT_THAT(page, HasSubstr("November 2026 <small>became known after 2026-11 was closed</small>"));
  EXPECT_THAT(page, HasSubstr(exact("1.000000")));
  EXPECT_THAT(invoice_page_of(november(), {.tenant = "t", .month = this_month()}),
              HasSubstr("<p class=\"lead\">None.</p>"));
}

TEST(InvoiceReport, SaysHowSharedCostWasSplit) {
  const std::string keep = invoice_page_of(november(), {.tenant = "t", .month = this_month()});
  EXPECT_THAT(keep, HasSubstr("Rule <b>keep</b>"));
  EXPECT_THAT(keep, Not(HasSubstr("shared idle")));
  const std::string shared =
      invoice_page_of(november(), {.tenant = "t", .month = this_month(), .idle = IdleRule::kProportional});
  EXPECT_THAT(shared, HasSubstr("Rule <b>proportional</b>"));
  EXPECT_THAT(shared, HasSubstr("shared idle"));
  const std::string nobody = invoice_page_of(november(), {.tenant = "", .month = this_month()});
  EXPECT_THAT(nobody, HasSubstr("What belongs to nobody, November 2026"));
  EXPECT_THAT(nobody, HasSubstr("<dd>nobody</dd>"));
}

TEST(InvoiceReport, ACurrencyStandsBesideDollars) {
  const std::string page = invoice_page_of(november(), {.tenant = "t", .month = this_month(), .currency = "E<R"});
  EXPECT_THAT(page, HasSubstr("1 USD = <data value=\"0.921437\">0.921437</data> <bdi>E&lt;R</bdi>"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="col">USD</th><th scope="col"><bdi>E&lt;R</bdi></th>)"));
  EXPECT_THAT(page, HasSubstr(R"(data-label="E&lt;R")"));
  EXPECT_THAT(page, HasSubstr(exact("10.135812")));  // 11.000005 x 0.921437
}

TEST(InvoiceReport, ANegativeSumIsPaidBack) {
  auto lines = november();
  lines.back() = R"({"type":"void","id":"late","of":"u1"})";
  const std::string page = invoice_page_of(lines, {.tenant = "t", .month = this_month().next()});
  EXPECT_THAT(page, HasSubstr("To be paid back"));
  EXPECT_THAT(page, HasSubstr(exact("−10.000005")));
}

TEST(InvoiceReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  const std::string page = invoice_page_of(november("<script>alert(1)</script>", "{{usage}}</td>"),
                                           {.tenant = "<script>alert(1)</script>", .month = this_month()});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("<bdi>{{usage}}&lt;/td&gt;</bdi>"));
  EXPECT_THAT(page, HasSubstr("<title>&lt;script&gt;alert(1)&lt;/script&gt; 2026-11"));
  EXPECT_EQ(testing::count_of(page, "{{"), testing::count_of(page, "{{usage}}"));
}

TEST(InvoiceReport, TheSameInvoiceGivesTheSameBytes) {
  const ledger::InvoiceRequest request{.tenant = "t", .month = this_month()};
  EXPECT_EQ(invoice_page_of(november(), request), invoice_page_of(november(), request));
}

}  // namespace
}  // namespace berth::report
