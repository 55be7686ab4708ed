/// The page of `berth cost`: the cost of GPUs, its payers, budgets and unused time, as one self-contained HTML page
/// without script.
#pragma once

#include <cstddef>
#include <string>

#include "ledger/billing/cost_overview.h"

namespace berth::report {

/// The page, UTF-8, of a ledger with that name: cost by day and tenant, budgets with their forecasts, GPUs over time by
/// kind of time with cost and owner, price changes, corrections of closed months. Names are escaped; absent figures are
/// a dash. Tables have at most the rows below, and many days share a column: the page says so. The same arguments give
/// the same bytes.
[[nodiscard]] std::string render_cost_report(const std::string& ledger_name, const ledger::CostOverview& overview);

/// The maximum number of rows for tenants, owners of one kind of time, budgets, price changes and corrections.
inline constexpr std::size_t kTenantRowsMax = 60;
inline constexpr std::size_t kOwnerRowsMax = 10;
inline constexpr std::size_t kBudgetRowsMax = 60;
inline constexpr std::size_t kChangeRowsMax = 60;

}  // namespace berth::report
