/// `berth ledger weights`: the weights of the parts of GPUs, as text for stdout.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/ledger/ledger_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

[[nodiscard]] Result<std::string> run_ledger_weights(const LedgerWeightsRequest& request, const VerbContext& context);

}  // namespace berth::cli
