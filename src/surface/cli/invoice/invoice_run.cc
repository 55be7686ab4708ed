#include "surface/cli/invoice/invoice_run.h"

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "surface/cli/invoice/invoice_csv.h"
#include "surface/cli/invoice/invoice_json.h"
#include "surface/cli/invoice/invoice_table.h"
#include "surface/pages/invoice_report.h"

namespace berth::cli {

Result<std::string> run_invoice(const InvoiceVerbRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  const std::string& tenant = request.invoice.tenant;
  if (!tenant.empty() && !opened->books().has_tenant(tenant)) {
    return invalid("--tenant: wanted a tenant of this ledger, found " + in_quotes(tenant));
  }
  const ledger::Report report = opened->books().report();
  const auto invoice = ledger::Invoicing(opened->books(), report).invoice(request.invoice);
  if (!invoice) return pass_on(invoice.error());
  switch (request.format) {
    case InvoiceFormat::kTable:
      return invoice_table(*invoice, context.has_colour());
    case InvoiceFormat::kJson:
      return invoice_json(*invoice);
    case InvoiceFormat::kCsv:
      return invoice_csv(*invoice);
    case InvoiceFormat::kHtml:
      return report::render_invoice(*invoice);
  }
  ENSURE(false);
}

}  // namespace berth::cli
