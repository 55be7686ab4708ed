/// Reports of a ledger as tables.
#pragma once

#include <optional>
#include <string>

#include "ledger/billing/report_time.h"
#include "ledger/books/report.h"

namespace berth::cli {

/// Usage and cost by holder, over all months; below it the unused time; then the months and the lines. `time`: needed
/// where GPUs have no price, or cost nothing; then the hours are its, and a text says how to give prices.
[[nodiscard]] std::string report_table(const ledger::Report& report, const std::optional<ledger::ReportTime>& time,
                                       bool has_colour);
[[nodiscard]] std::string trial_balance_table(const ledger::TrialBalance& trial, bool has_colour);

}  // namespace berth::cli
