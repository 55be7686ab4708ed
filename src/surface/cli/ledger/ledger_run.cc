#include "surface/cli/ledger/ledger_run.h"

#include "surface/cli/ledger/ledger_json.h"
#include "surface/cli/ledger/ledger_table.h"

namespace berth::cli {

Result<std::string> run_ledger_report(const LedgerReportRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  const ledger::Report report = opened->books().report();
  return request.format == OutputFormat::kJson ? report_json(report) : report_table(report, context.has_colour());
}

Result<std::string> run_ledger_trial_balance(const LedgerReportRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  const ledger::TrialBalance trial = opened->books().trial_balance();
  return request.format == OutputFormat::kJson ? trial_balance_json(trial)
                                               : trial_balance_table(trial, context.has_colour());
}

}  // namespace berth::cli
