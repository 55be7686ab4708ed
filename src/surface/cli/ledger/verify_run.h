/// `berth ledger verify`: counts everything again in a second way, and compares.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/ledger/ledger_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The lines are read by the recount, which shares no code with the books; of a ledger on disk the hashes are checked,
/// too. A difference is printed on `out` like its absence, and ends with status 1.
[[nodiscard]] Result<std::string> run_ledger_verify(const LedgerReportRequest& request, const VerbContext& context);

}  // namespace berth::cli
