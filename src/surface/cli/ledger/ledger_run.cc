#include "surface/cli/ledger/ledger_run.h"

#include <algorithm>
#include <optional>

#include "surface/cli/ledger/ledger_json.h"
#include "surface/cli/ledger/ledger_table.h"

namespace berth::cli {

namespace {

/// Whether time that cost nothing is missing in the rows.
bool is_time_left_out(const ledger::Report& report, const ledger::Books& books) {
  return report.unpriced_us != 0 || std::ranges::any_of(books.prices(), [](const ledger::SkuPrice& price) {
           return price.micro_usd_per_gpu_hour == 0;
         });
}

}  // namespace

Result<std::string> run_ledger_report(const LedgerReportRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  ledger::Books& books = opened->books();
  const ledger::Report report = books.report();
  if (request.format == OutputFormat::kJson) return report_json(report);
  std::optional<ledger::ReportTime> time;
  if (is_time_left_out(report, books)) time = report_time(books);
  return report_table(report, time, context.has_colour());
}

Result<std::string> run_ledger_trial_balance(const LedgerReportRequest& request, const VerbContext& context) {
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  const ledger::TrialBalance trial = opened->books().trial_balance();
  return request.format == OutputFormat::kJson ? trial_balance_json(trial)
                                               : trial_balance_table(trial, context.has_colour());
}

}  // namespace berth::cli
