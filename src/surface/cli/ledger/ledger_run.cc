#include "surface/cli/ledger/ledger_run.h"

#include "surface/cli/ledger/ledger_json.h"

namespace berth::cli {

Result<std::string> run_ledger_report(const LedgerReportRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  const ledger::Report report = opened->books.report();
  return report_json(report);
}

Result<std::string> run_ledger_trial_balance(const LedgerReportRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  const ledger::TrialBalance trial = opened->books.trial_balance();
  return trial_balance_json(trial);
}

}  // namespace berth::cli
