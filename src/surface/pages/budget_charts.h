/// The charts of budgets on the page of `berth cost`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ledger/billing/cost_overview.h"

namespace berth::report {

/// The maximum number of budgets drawn, most used first.
inline constexpr std::size_t kBudgetFiguresMax = 12;

/// Whether the larger of the month's spending so far and its forecast reaches the budget.
[[nodiscard]] bool is_tight(const ledger::BudgetStanding& standing);

/// The budgets, most used first: by the larger of spending and forecast, as a share of the budget.
[[nodiscard]] std::vector<const ledger::BudgetStanding*> budgets_by_use(const ledger::CostOverview& overview);

/// For each of the first budgets: the month's spending so far, day by day, against the budget, and the forecast.
[[nodiscard]] std::string budget_figures(const ledger::CostOverview& overview);
[[nodiscard]] std::string budget_key();

}  // namespace berth::report
