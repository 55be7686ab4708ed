/// Reports of a ledger as tables.
#pragma once

#include <string>

#include "ledger/books/report.h"

namespace berth::cli {

/// Usage and cost by holder, over all months; below it the unused time; then the months and the lines.
[[nodiscard]] std::string report_table(const ledger::Report& report, bool has_colour);
[[nodiscard]] std::string trial_balance_table(const ledger::TrialBalance& trial, bool has_colour);

}  // namespace berth::cli
