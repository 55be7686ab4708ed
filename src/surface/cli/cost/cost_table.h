/// Costs, budgets and the cells behind a figure, as tables.
#pragma once

#include <string>
#include <vector>

#include "ledger/billing/budget.h"
#include "ledger/billing/cost.h"
#include "surface/cli/cost/cost_cells.h"

namespace berth::cli {

[[nodiscard]] std::string cost_table(ledger::CostKey key, const std::vector<ledger::CostRow>& rows, bool has_colour);
[[nodiscard]] std::string budgets_table(const std::vector<ledger::BudgetStanding>& standings, bool has_colour);
[[nodiscard]] std::string cells_table(const CostCells& cells, bool has_colour);

}  // namespace berth::cli
