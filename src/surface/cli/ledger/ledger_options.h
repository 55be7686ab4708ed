/// The options of `berth ledger`: as typed, and checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/gpu.h"
#include "surface/cli/shared/ledger_words.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The words of `berth ledger report`, `verify` and `trial-balance`, as typed.
struct LedgerReportWords {
  LedgerWords ledger;
  std::string format = "table";
};

[[nodiscard]] OptionTable ledger_report_option_rows(LedgerReportWords& words);

struct LedgerReportRequest {
  LedgerRequest ledger;
  OutputFormat format = OutputFormat::kTable;
};

/// Refuses whatever check_ledger_words refuses, and an unknown format.
[[nodiscard]] Result<LedgerReportRequest> check_ledger_report_words(const LedgerReportWords& words);

/// The words of `berth ledger weights`, as typed.
struct LedgerWeightsWords {
  std::optional<std::string> gpu = std::nullopt;  ///< absent: every model
  std::string format = "table";
};

[[nodiscard]] OptionTable ledger_weights_option_rows(LedgerWeightsWords& words);

struct LedgerWeightsRequest {
  std::vector<GpuModel> models;
  OutputFormat format = OutputFormat::kTable;
};

/// Refuses an unknown GPU model and an unknown format.
[[nodiscard]] Result<LedgerWeightsRequest> check_ledger_weights_words(const LedgerWeightsWords& words);

}  // namespace berth::cli
