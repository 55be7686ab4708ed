/// Reports of a ledger as JSON (MONEY part 2).
#pragma once

#include <string>

#include "base/json/writer.h"
#include "ledger/books/report.h"

namespace berth::cli {

[[nodiscard]] std::string report_json(const ledger::Report& report);
[[nodiscard]] std::string trial_balance_json(const ledger::TrialBalance& trial);

/// Adds the members of a row: {"tenant": .., "micro_usd": ..}.
void put_row(json::Writer& json, const ledger::Row& row);

}  // namespace berth::cli
