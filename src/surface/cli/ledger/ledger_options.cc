#include "surface/cli/ledger/ledger_options.h"

#include "surface/cli/shared/option_words.h"

namespace berth::cli {

Result<LedgerReportRequest> check_ledger_report_words(const LedgerReportWords& words) {
  auto ledger = check_ledger_words(words.ledger);
  if (!ledger) return pass_on(ledger.error());
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  return LedgerReportRequest{.ledger = *std::move(ledger), .format = *format};
}

}  // namespace berth::cli
