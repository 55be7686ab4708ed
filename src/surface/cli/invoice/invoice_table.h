/// Invoices as text.
#pragma once

#include <string>

#include "ledger/billing/invoice.h"

namespace berth::cli {

[[nodiscard]] std::string invoice_table(const ledger::Invoice& invoice, bool has_colour);

}  // namespace berth::cli
