#include "surface/cli/invoice/invoice_json.h"

#include "base/json/writer.h"
#include "surface/cli/ledger/ledger_json.h"

namespace berth::cli {

std::string invoice_json(const ledger::Invoice& invoice) {
  json::JsonWriter json;
  json.open_object().key("berth").integer(1).key("tenant").text(invoice.request.tenant);
  json.key("month").text(invoice.request.month.to_string()).key("closed").truth(invoice.is_closed);
  json.key("currency").text(invoice.request.currency).key("lines").open_list();
  for (const ledger::InvoiceLine& line : invoice.lines) {
    json.open_object();
    write_row(json, line.row);
    json.key("micro").integer(line.micro);
    if (line.row.key.role == ledger::Role::kShared) json.key("shared_role").text(name_of(line.shared_role));
    json.close_object();
  }
  json.close_list().key("credits").open_list();
  for (const ledger::AppliedCredit& credit : invoice.credits) {
    json.open_object().key("id").text(credit.credit->id).key("micro_usd").integer(credit.micro_usd);
    json.key("micro").integer(credit.micro).key("reason").text(name_of(credit.credit->reason));
    json.key("left_micro_usd").integer(credit.left_micro_usd).close_object();
  }
  json.close_list().key("idle").text(name_of(invoice.request.idle)).key("micro_per_usd");
  if (invoice.micro_per_usd) {
    json.integer(*invoice.micro_per_usd);
  } else {
    json.null();
  }
  json.key("month_hash");
  if (invoice.month_hash) {
    json.text(*invoice.month_hash);
  } else {
    json.null();
  }
  json.key("total_micro_usd").integer(invoice.total_micro_usd).key("total_micro").integer(invoice.total_micro);
  json.close_object();
  return json.take();
}

}  // namespace berth::cli
