/// The charts of the page of `berth cost` over time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ledger/billing/cost_overview.h"

namespace berth::report {

/// So many tenants have a colour of their own, those that pay most.
inline constexpr std::size_t kTenantHues = 8;

/// The layers of the tenants in the chart of days, as styles of the page: "l0" to "l7", "others" or "nobodys".
[[nodiscard]] std::vector<std::string> tenant_styles(const ledger::CostOverview& overview);

/// What each day costs, stacked by tenant, with the changes of prices, and below it the months with their state.
/// Requires: something is covered.
[[nodiscard]] std::string burn_figure(const ledger::CostOverview& overview);
[[nodiscard]] std::string burn_key(const ledger::CostOverview& overview);

/// GPUs over time as used, idle, stranded and in reconfiguration. Requires: something is covered.
[[nodiscard]] std::string kinds_figure(const ledger::CostOverview& overview);
[[nodiscard]] std::string kinds_key();

/// An amount for the label of an axis: "$250", "$1.2M".
[[nodiscard]] std::string short_usd(double usd);

}  // namespace berth::report
