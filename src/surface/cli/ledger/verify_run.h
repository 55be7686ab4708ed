/// `berth ledger verify`: recomputes everything in a second way, and compares.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/ledger/ledger_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The lines are read by the recount, which shares no code with the books; for a ledger on disk, the hashes are
/// checked, too. The result is printed on `out` in either case; a difference gives exit status 1.
[[nodiscard]] Result<std::string> run_ledger_verify(const LedgerReportRequest& request, const VerbContext& context);

}  // namespace berth::cli
