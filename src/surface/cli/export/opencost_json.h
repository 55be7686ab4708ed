/// A month of a ledger in the form of OpenCost's allocation API.
#pragma once

#include <string>
#include <vector>

#include "base/core/month.h"
#include "ledger/billing/opencost.h"

namespace berth::cli {

/// {"code":200,"data":[{NAME: {..}, ..}]}: one window, the month. Money and hours are exact decimals.
[[nodiscard]] std::string opencost_json(const std::vector<ledger::OpencostAllocation>& allocations, Month month);

}  // namespace berth::cli
