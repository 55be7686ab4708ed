/// The charts of budgets on the page of `berth cost`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ledger/billing/cost_overview.h"

namespace berth::report {

/// So many budgets are drawn, those that are used most.
inline constexpr std::size_t kBudgetFiguresMax = 12;

/// What is spent or forecast for the month, whichever is more, reaches the budget.
[[nodiscard]] bool is_tight(const ledger::BudgetStanding& standing);

/// The budgets, those that are used most first: by what is spent or forecast, as a share of them.
[[nodiscard]] std::vector<const ledger::BudgetStanding*> budgets_by_use(const ledger::CostOverview& overview);

/// For each of the first budgets: what is spent of the month so far, day by day, against the budget, and the forecast.
[[nodiscard]] std::string budget_figures(const ledger::CostOverview& overview);
[[nodiscard]] std::string budget_key();

}  // namespace berth::report
