/// The page of `berth invoice`: a tenant's invoice for a month, as one self-contained HTML page without script, made
/// for printing.
#pragma once

#include <string>

#include "ledger/billing/invoice.h"

namespace berth::report {

/// The page, UTF-8: tenant, month, its state and its hash, currency and rate; lines by service with subtotals; shared
/// cost with the rule that split it; corrections by corrected month; credits used and left; the total. Money has all
/// six decimals. Names are escaped; absent figures are a dash. Nothing is left out. The same invoice gives the same
/// bytes. Requires: the credits that the invoice borrows still exist.
[[nodiscard]] std::string render_invoice(const ledger::Invoice& invoice);

}  // namespace berth::report
