#include "surface/cli/invoice/invoice_options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/core/text.h"

namespace berth::cli {
namespace {

constexpr std::array<std::pair<std::string_view, InvoiceFormat>, 4> kInvoiceFormats = {
    {{"table", InvoiceFormat::kTable},
     {"json", InvoiceFormat::kJson},
     {"html", InvoiceFormat::kHtml},
     {"csv", InvoiceFormat::kCsv}}};

}  // namespace

OptionTable invoice_option_rows(InvoiceWords& words) {
  return joined_rows(
      {ledger_option_rows(words.ledger),
       {
           {"--tenant", "T", "The tenant; \"\" for unowned time", &words.tenant, kRequired},
           {"--month", "M", "Such as 2026-11", &words.month, kRequired},
           {"--idle", "WORD", "Unowned time: keep (on no tenant's invoice) or proportional (shared)", &words.idle},
           {"--currency", "EUR", "USD, or a currency for which the ledger has a rate", &words.currency},
           {"--format", "WORD", "table, json, html or csv", &words.format},
       }});
}

Result<InvoiceVerbRequest> check_invoice_words(const InvoiceWords& words) {
  auto ledger = check_ledger_words(words.ledger);
  if (!ledger) return pass_on(ledger.error());
  const auto month = Month::parse(words.month);
  if (!month) return invalid("--month: " + month.error().message);
  if (words.idle != "keep" && words.idle != "proportional") {
    return invalid("--idle: wanted keep or proportional, found " + in_quotes(words.idle));
  }
  if (words.currency.empty()) return invalid("--currency: wanted a currency such as EUR, found an empty word");
  const auto* const format =
      std::ranges::find(kInvoiceFormats, words.format, [](const auto& pair) { return pair.first; });
  if (format == kInvoiceFormats.end()) {
    return invalid("--format: wanted table, json, html or csv, found " + in_quotes(words.format));
  }
  return InvoiceVerbRequest{
      .ledger = *std::move(ledger),
      .invoice = {.tenant = words.tenant,
                  .month = *month,
                  .idle = words.idle == "keep" ? ledger::IdleRule::kKeep : ledger::IdleRule::kProportional,
                  .currency = words.currency},
      .format = format->second};
}

}  // namespace berth::cli
