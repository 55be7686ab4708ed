// Properties of the invoices of any ledger.
#include "ledger/billing/invoice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/rng.h"
#include "ledger/books/testing/line_ledger.h"
#include "ledger/books/testing/random_events.h"

namespace berth::ledger {
namespace {

constexpr std::array kIdleRules = {IdleRule::kKeep, IdleRule::kProportional};

std::vector<std::string> any_lines() {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  return testing::random_lines(rng, {.line_count = *rc::gen::inRange<std::size_t>(2, 120)});
}

std::set<std::string> tenants_of(const Report& report) {
  std::set<std::string> tenants = {""};
  for (const MonthRows& month : report.months) {
    for (const Row& row : month.rows) tenants.insert(row.key.tenant);
  }
  return tenants;
}

RC_GTEST_PROP(InvoiceProperty, TheInvoicesOfAMonthAreItsRows, ()) {
  testing::LineLedger ledger(any_lines());
  const Report report = ledger.report();
  const Invoicing invoicing(ledger.books(), report);
  for (const MonthRows& month : report.months) {
    for (const IdleRule idle : kIdleRules) {
      MicroUsd micro_usd = 0;
      Grains grains = 0;
      for (const std::string& tenant : tenants_of(report)) {
        const Invoice invoice = invoicing.invoice({.tenant = tenant, .month = month.month, .idle = idle}).value();
        for (const InvoiceLine& line : invoice.lines) {
          micro_usd += line.row.micro_usd;
          grains += line.row.amount.grains;
        }
      }
      RC_ASSERT(micro_usd == month.micro_usd);
      Grains of_rows = 0;
      for (const Row& row : month.rows) of_rows += row.amount.grains;
      RC_ASSERT(grains == of_rows);
    }
  }
}

RC_GTEST_PROP(InvoiceProperty, LinesAndCreditsSumToTheTotal, ()) {
  testing::LineLedger ledger(any_lines());
  const Report report = ledger.report();
  const Invoicing invoicing(ledger.books(), report);
  for (const MonthRows& month : report.months) {
    for (const std::string& tenant : tenants_of(report)) {
      for (const char* currency : {"USD", "EUR", "JPY"}) {
        const auto invoice = invoicing.invoice({.tenant = tenant, .month = month.month, .currency = currency});
        if (!invoice) continue;
        MicroUsd micro_usd = 0;
        MicroUsd micro = 0;
        for (const InvoiceLine& line : invoice->lines) {
          micro_usd += line.row.micro_usd;
          micro += line.micro;
        }
        MicroUsd credited = 0;
        for (const AppliedCredit& credit : invoice->credits) {
          credited += credit.micro_usd;
          micro -= credit.micro;
        }
        RC_ASSERT(credited <= std::max(micro_usd, MicroUsd{0}));
        RC_ASSERT(micro_usd - credited == invoice->total_micro_usd);
        RC_ASSERT(micro == invoice->total_micro);
      }
    }
  }
}

RC_GTEST_PROP(InvoiceProperty, NoCreditIsUsedTwice, ()) {
  testing::LineLedger ledger(any_lines());
  const Report report = ledger.report();
  const Invoicing invoicing(ledger.books(), report);
  for (const IdleRule idle : kIdleRules) {
    std::map<const Credit*, MicroUsd> used;
    for (const MonthRows& month : report.months) {
      for (const AppliedCredit& applied : invoicing.credits_of(month.month, idle)) {
        const Credit& credit = *applied.credit;
        RC_ASSERT(applied.micro_usd > 0);
        RC_ASSERT(credit.at_us < month.month.end_us());
        RC_ASSERT((!credit.expires_us || *credit.expires_us > month.month.begin_us()));
        used[&credit] += applied.micro_usd;
        RC_ASSERT(applied.left_micro_usd == credit.micro_usd - used[&credit]);
        RC_ASSERT(applied.left_micro_usd >= 0);
      }
    }
  }
}

/// All that the invoices of closed months say.
std::vector<std::string> closed_invoices(testing::LineLedger& ledger) {
  std::vector<std::string> texts;
  const Report report = ledger.report();
  const Invoicing invoicing(ledger.books(), report);
  for (const MonthRows& month : report.months) {
    if (!month.is_closed) continue;
    std::set<std::string> tenants = {""};
    for (const Row& row : month.rows) tenants.insert(row.key.tenant);
    for (const std::string& tenant : tenants) {
      for (const IdleRule idle : kIdleRules) {
        for (const char* currency : {"USD", "EUR"}) {
          std::string text = fmt::format("{} {} {} {}:", month.month.to_string(), tenant, name_of(idle), currency);
          const auto invoice =
              invoicing.invoice({.tenant = tenant, .month = month.month, .idle = idle, .currency = currency});
          if (invoice) {
            for (const InvoiceLine& line : invoice->lines) text += fmt::format(" {}", line.micro);
            for (const AppliedCredit& credit : invoice->credits) {
              text += fmt::format(" {} -{} {}", credit.credit->id, credit.micro, credit.left_micro_usd);
            }
            for (const AppliedCredit& credit : invoice->unused_credits) {
              text += fmt::format(" {} {}", credit.credit->id, credit.left_micro_usd);
            }
            text += fmt::format(" = {} {}", invoice->total_micro, invoice->month_hash.value_or("-"));
          }
          texts.push_back(text);
        }
      }
    }
  }
  return texts;
}

RC_GTEST_PROP(InvoiceProperty, ThoseOfClosedMonthsNeverChange, ()) {
  testing::LineLedger ledger;
  std::vector<std::string> closed;
  for (const std::string& line : any_lines()) {
    const auto before = ledger.books().last_closed();
    ledger.take(line);
    if (ledger.books().last_closed() != before) closed = closed_invoices(ledger);
  }
  RC_ASSERT(closed_invoices(ledger) == closed);
}

}  // namespace
}  // namespace berth::ledger
