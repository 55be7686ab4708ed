/// The charts of the page of `berth cost` over time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ledger/billing/cost_overview.h"

namespace berth::report {

/// The number of tenants with a colour of their own: those that pay most.
inline constexpr std::size_t kTenantHues = 8;

/// For each tenant, the style of its layer in the chart of days: "l0" to "l7", "others" or "nobodys" (unowned).
[[nodiscard]] std::vector<std::string> tenant_styles(const ledger::CostOverview& overview);

/// The cost of each day, stacked by tenant, with price changes, and below it the months with their state. Requires: the
/// overview covers some time.
[[nodiscard]] std::string burn_figure(const ledger::CostOverview& overview);
[[nodiscard]] std::string burn_key(const ledger::CostOverview& overview);

/// GPUs over time as used, idle, stranded and in reconfiguration. Requires: the overview covers some time.
[[nodiscard]] std::string kinds_figure(const ledger::CostOverview& overview);
[[nodiscard]] std::string kinds_key();

/// An amount for the label of an axis: "$250", "$1.2M".
[[nodiscard]] std::string short_usd(double usd);

}  // namespace berth::report
