#include "surface/cli/invoice/invoice_csv.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "ledger/billing/csv.h"

namespace berth::cli {
namespace {

using ledger::csv_row;
using ledger::decimal_of;

constexpr int kMoneyDecimals = 6;

}  // namespace

std::string invoice_csv(const ledger::Invoice& invoice) {
  const std::string month = invoice.request.month.to_string();
  const std::string& currency = invoice.request.currency;
  std::string text = csv_row({"kind", "tenant", "month", "service", "sku", "role", "shared_role", "class", "of",
                              "gpu_us", "usd", "amount", "currency"});
  for (const ledger::InvoiceLine& line : invoice.lines) {
    const ledger::RowKey& key = line.row.key;
    const bool is_shared = key.role == ledger::Role::kShared;
    text += csv_row({"line", key.tenant, month, key.service, key.sku, std::string(name_of(key.role)),
                     is_shared ? std::string(name_of(line.shared_role)) : "", std::string(key.class_name()),
                     key.of ? key.of->to_string() : "", fmt::format("{}", line.row.amount.gpu_us),
                     decimal_of(line.row.micro_usd, kMoneyDecimals), decimal_of(line.micro, kMoneyDecimals), currency});
  }
  for (const ledger::AppliedCredit& credit : invoice.credits) {
    text +=
        csv_row({"credit", invoice.request.tenant, month, credit.credit->id, "",
                 std::string(name_of(credit.credit->reason)), "", "", "", "",
                 decimal_of(-credit.micro_usd, kMoneyDecimals), decimal_of(-credit.micro, kMoneyDecimals), currency});
  }
  text += csv_row({"total", invoice.request.tenant, month, "", "", "", "", "", "", "",
                   decimal_of(invoice.total_micro_usd, kMoneyDecimals), decimal_of(invoice.total_micro, kMoneyDecimals),
                   currency});
  return text;
}

}  // namespace berth::cli
