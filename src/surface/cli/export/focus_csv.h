/// A month of a ledger as a file of FOCUS 1.2.
#pragma once

#include <string>
#include <vector>

#include "base/core/month.h"
#include "ledger/billing/focus.h"

namespace berth::cli {

/// A header, then the lines. Columns of FOCUS by name, then our own; columns without any value are left out.
[[nodiscard]] std::string focus_csv(const std::vector<ledger::FocusLine>& lines, Month month);

}  // namespace berth::cli
