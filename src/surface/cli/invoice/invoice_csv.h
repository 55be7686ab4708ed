/// Invoices as CSV.
#pragma once

#include <string>

#include "ledger/billing/invoice.h"

namespace berth::cli {

/// A line for each line and each credit of the invoice (kind `line` or `credit`, credits negative), then the total;
/// money as exact decimals.
[[nodiscard]] std::string invoice_csv(const ledger::Invoice& invoice);

}  // namespace berth::cli
