#include "surface/cli/invoice/invoice_json.h"

#include "base/json/writer.h"
#include "surface/cli/ledger/ledger_json.h"

namespace berth::cli {

std::string invoice_json(const ledger::Invoice& invoice) {
  json::Writer json;
  json.open_object().member("berth", 1).member("tenant", invoice.request.tenant);
  json.member("month", invoice.request.month.to_string()).member("closed", invoice.is_closed);
  json.member("currency", invoice.request.currency).open_list("lines");
  for (const ledger::InvoiceLine& line : invoice.lines) {
    json.open_object();
    put_row(json, line.row);
    json.member("micro", line.micro);
    if (line.row.key.role == ledger::Role::kShared) json.member("shared_role", name_of(line.shared_role));
    json.close_object();
  }
  json.close_list().open_list("credits");
  for (const ledger::AppliedCredit& credit : invoice.credits) {
    json.open_object().member("id", credit.credit->id).member("micro_usd", credit.micro_usd);
    json.member("micro", credit.micro).member("reason", name_of(credit.credit->reason));
    json.member("left_micro_usd", credit.left_micro_usd).close_object();
  }
  json.close_list().member("idle", name_of(invoice.request.idle)).member("micro_per_usd", invoice.micro_per_usd);
  json.member("month_hash", invoice.month_hash);
  json.member("total_micro_usd", invoice.total_micro_usd).member("total_micro", invoice.total_micro);
  json.open_list("later_corrections");
  for (const ledger::LaterCorrection& each : invoice.later_corrections) {
    json.open_object().member("month", each.month.to_string()).member("added_micro_usd", each.added);
    json.member("taken_back_micro_usd", each.taken_back).close_object();
  }
  json.close_list().close_object();
  return json.take_line();
}

}  // namespace berth::cli
