#include "surface/cli/invoice/invoice_table.h"

#include <fmt/format.h>

#include <vector>

#include "surface/cli/shared/money_text.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

std::string class_text(const ledger::RowKey& key) {
  return key.of ? "correction of " + key.of->to_string() : std::string(key.class_name());
}

std::string role_text(const ledger::InvoiceLine& line) {
  const auto role = std::string(name_of(line.row.key.role));
  return line.row.key.role == ledger::Role::kShared ? fmt::format("{} {}", role, name_of(line.shared_role)) : role;
}

std::string idle_sentence(const ledger::InvoiceRequest& request) {
  if (request.idle == ledger::IdleRule::kProportional) {
    return "Unowned time is shared among the tenants that used the sku this month, in proportion to what they pay for "
           "it (--idle proportional).";
  }
  return request.tenant.empty() ? "This time is on no tenant's invoice (--idle keep)."
                                : "Unowned time is not on this invoice (--idle keep).";
}

std::string title_of(const ledger::Invoice& invoice) {
  const ledger::InvoiceRequest& request = invoice.request;
  return fmt::format(
      "{}, {} ({}), in {}\n", request.tenant.empty() ? "Unowned time" : "Invoice for " + printable(request.tenant),
      request.month.to_string(), invoice.is_closed ? "closed" : "still open", printable(request.currency));
}

}  // namespace

std::string invoice_table(const ledger::Invoice& invoice, bool has_colour) {
  const ledger::InvoiceRequest& request = invoice.request;
  std::string text = title_of(invoice);
  if (invoice.micro_per_usd) {
    text += fmt::format("1 USD = {} {}\n", exact_dollars_text(*invoice.micro_per_usd), printable(request.currency));
  }
  std::vector<std::vector<std::string>> rows = {{"service", "sku", "role", "class", "GPU-hours", "amount"}};
  for (const ledger::InvoiceLine& line : invoice.lines) {
    const ledger::RowKey& key = line.row.key;
    rows.push_back({key.service.empty() ? std::string(kAbsentText) : printable(key.service), printable(key.sku),
                    role_text(line), class_text(key), gpu_hours_text(line.row.amount.gpu_us),
                    exact_dollars_text(line.micro)});
  }
  for (const ledger::AppliedCredit& credit : invoice.credits) {
    rows.push_back({"credit", printable(credit.credit->id), std::string(name_of(credit.credit->reason)),
                    dollars_text(credit.left_micro_usd) + " USD left", "", exact_dollars_text(-credit.micro)});
  }
  rows.push_back({"total", "", "", "", "", exact_dollars_text(invoice.total_micro)});
  text += "\n" + styled_table(rows, has_colour) + "\n" + wrapped(idle_sentence(request)) + "\n";
  text += wrapped(ledger::booking_sentence(request.month, invoice.is_closed, invoice.later_corrections)) + "\n";
  if (invoice.month_hash) text += fmt::format("Hash of the closed month: {}\n", *invoice.month_hash);
  return text;
}

}  // namespace berth::cli
