/// The options of `berth export`: as typed, and checked.
#pragma once

#include <string>

#include "base/core/month.h"
#include "base/core/result.h"
#include "ledger/billing/invoice.h"
#include "ledger/billing/opencost.h"
#include "surface/cli/shared/ledger_words.h"
#include "surface/cli/shared/option_row.h"

namespace berth::cli {

/// As typed; --by is only for `opencost`.
struct ExportWords {
  LedgerWords ledger;
  std::string month;
  std::string out;
  std::string idle = "keep";
  std::string by = "tenant";
};

[[nodiscard]] OptionTable export_focus_option_rows(ExportWords& words);
[[nodiscard]] OptionTable export_opencost_option_rows(ExportWords& words);

struct ExportRequest {
  LedgerRequest ledger;
  Month month;
  std::string out;
  ledger::IdleRule idle = ledger::IdleRule::kKeep;
  ledger::AllocationDepth depth = ledger::AllocationDepth::kTenant;
};

/// Refuses whatever check_ledger_words refuses, a malformed month, an empty path and unknown words.
[[nodiscard]] Result<ExportRequest> check_export_words(const ExportWords& words);

}  // namespace berth::cli
