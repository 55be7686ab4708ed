/// From a request of `berth ledger` to the text for stdout.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/ledger/ledger_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

[[nodiscard]] Result<std::string> run_ledger_report(const LedgerReportRequest& request, const VerbContext& context);
[[nodiscard]] Result<std::string> run_ledger_trial_balance(const LedgerReportRequest& request,
                                                           const VerbContext& context);

}  // namespace berth::cli
