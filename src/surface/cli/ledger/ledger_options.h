/// The options of `berth ledger`: as typed, and checked.
#pragma once

#include <string>

#include "base/result.h"
#include "surface/cli/shared/ledger_words.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Of `berth ledger report`, `verify` and `trial-balance`, as typed.
struct LedgerReportWords {
  LedgerWords ledger;
  std::string format = "table";
};

struct LedgerReportRequest {
  LedgerRequest ledger;
  OutputFormat format = OutputFormat::kTable;
};

[[nodiscard]] Result<LedgerReportRequest> check_ledger_report_words(const LedgerReportWords& words);

}  // namespace berth::cli
