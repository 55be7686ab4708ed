#include "surface/cli/export/export_run.h"

#include <fmt/format.h>

#include "edges/files/file_sink.h"
#include "ledger/billing/charges.h"
#include "ledger/billing/focus.h"
#include "surface/cli/export/focus_csv.h"
#include "surface/cli/export/opencost_json.h"
#include "surface/cli/shared/money_text.h"
#include "surface/cli/shared/text_table.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

using ledger::MonthCharges;

/// The charges of an open ledger, whose credits they refer to.
MonthCharges charges_of_request(OpenLedger& opened, const ExportRequest& request) {
  const ledger::Report report = opened.books().report();
  return charges_of(ledger::Invoicing(opened.books(), report), report, request.month, request.idle);
}

std::string booking_text(const MonthCharges& charges) {
  return wrapped(ledger::booking_sentence(charges.month, charges.is_closed, charges.later_corrections)) + "\n";
}

}  // namespace

Result<std::string> run_export_focus(const ExportRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  const MonthCharges charges = charges_of_request(*opened, request);
  const auto lines = focus_lines(charges);
  if (auto written = edges::write_file_whole(request.out, focus_csv(lines, request.month)); !written) {
    return unwritable(written.error());
  }
  return fmt::format("{}: {} lines of {}, {} of them credits; BilledCost sums to {} USD\n{}", request.out, lines.size(),
                     request.month.to_string(), charges.credits.size(), exact_dollars_text(charges.total_micro_usd),
                     booking_text(charges));
}

Result<std::string> run_export_opencost(const ExportRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  const MonthCharges charges = charges_of_request(*opened, request);
  const auto allocations = opencost_allocations(charges, request.depth);
  if (auto written = edges::write_file_whole(request.out, opencost_json(allocations, request.month)); !written) {
    return unwritable(written.error());
  }
  return fmt::format("{}: {} allocations of {}; totalCost sums to {} USD, before credits\n{}", request.out,
                     allocations.size(), request.month.to_string(), exact_dollars_text(charges.lines_micro_usd),
                     booking_text(charges));
}

}  // namespace berth::cli
