/// Costs, budgets and the cells behind a figure, as JSON (MONEY part 2).
#pragma once

#include <string>
#include <vector>

#include "ledger/billing/budget.h"
#include "ledger/billing/cost.h"
#include "surface/cli/cost/cost_cells.h"

namespace berth::cli {

[[nodiscard]] std::string cost_json(ledger::CostKey key, const std::vector<ledger::CostRow>& rows);
[[nodiscard]] std::string budgets_json(const std::vector<ledger::BudgetStanding>& standings);
[[nodiscard]] std::string cells_json(const CostCells& cells);

}  // namespace berth::cli
