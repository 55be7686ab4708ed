/// Invoices as JSON (MONEY part 2).
#pragma once

#include <string>

#include "ledger/billing/invoice.h"

namespace berth::cli {

[[nodiscard]] std::string invoice_json(const ledger::Invoice& invoice);

}  // namespace berth::cli
