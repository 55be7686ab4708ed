#include "surface/cli/cost/cost_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "surface/cli/shared/money_text.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"
#include "surface/cli/shared/time_text.h"

namespace berth::cli {
namespace {

/// The most cells in a table; the JSON has all.
constexpr std::size_t kShownCellsMax = 200;

std::string day_or_absent(const std::optional<Date>& day) { return day ? day->to_string() : std::string(kAbsentText); }

/// Only unowned cost has an empty key.
std::string tenant_text(const std::string& tenant) { return tenant.empty() ? "(nobody)" : printable(tenant); }

std::vector<std::string> cell_row(const CostCell& cell) {
  return {printable(cell.gpu),
          cell.slice.empty() ? std::string(kAbsentText) : printable(cell.slice),
          tenant_text(cell.tenant),
          printable(cell.service),
          std::string(name_of(cell.role)),
          time_text(cell.when.from_us),
          time_text(cell.when.to_us),
          fmt::format("{}/{}", cell.weight, cell.whole),
          shown(cell.micro_usd_per_gpu_hour, [](std::int64_t price) { return exact_dollars_text(price); }),
          fmt::format("{}", cell.amount.grains)};
}

}  // namespace

std::string cost_table(ledger::CostKey key, const std::vector<ledger::CostRow>& rows, bool has_colour) {
  ledger::Amount total;
  for (const ledger::CostRow& row : rows) total += row.amount;
  std::vector<std::vector<std::string>> cells = {{std::string(name_of(key)), "GPU-hours", "dollars", "share"}};
  for (const ledger::CostRow& row : rows) {
    cells.push_back({tenant_text(row.key), gpu_hours_text(row.amount.gpu_us), dollars_text(row.micro_usd()),
                     percent_text(row.amount.grains, total.grains)});
  }
  cells.push_back({"total", gpu_hours_text(total.gpu_us),
                   dollars_text(ledger::floor_divide(total.grains, ledger::kGrainsPerMicroUsd)),
                   percent_text(total.grains, total.grains)});
  return styled_table(cells, has_colour);
}

std::string budgets_table(const std::vector<ledger::BudgetStanding>& standings, bool has_colour) {
  if (standings.empty()) return "No budget is in force at that time.\n";
  std::vector<std::vector<std::string>> cells = {
      {"tenant", "budget", "spent", "used", "50 %", "80 %", "100 %", "forecast", "state"}};
  for (const ledger::BudgetStanding& standing : standings) {
    const std::int64_t budget = standing.budget.micro_usd_per_month;
    cells.push_back({tenant_text(standing.budget.tenant), dollars_text(budget), dollars_text(standing.spent_micro_usd),
                     percent_text(standing.spent_micro_usd, budget), day_or_absent(standing.reached[0]),
                     day_or_absent(standing.reached[1]), day_or_absent(standing.reached[2]),
                     dollars_text(standing.forecast_micro_usd), std::string(name_of(standing.state))});
  }
  return styled_table(cells, has_colour);
}

std::string cells_table(const CostCells& cells, bool has_colour) {
  if (cells.count == 0) return "No cell matches.\n";
  std::vector<std::vector<std::string>> rows = {
      {"GPU", "slice", "tenant", "service", "role", "from", "to", "weight", "dollars/h", "grains"}};
  const std::size_t shown_count = std::min(cells.list.size(), kShownCellsMax);
  for (std::size_t i = 0; i < shown_count; ++i) rows.push_back(cell_row(cells.list[i]));
  std::string text = styled_table(rows, has_colour);
  if (cells.count > shown_count) {
    text += fmt::format("and {} more: --format json has {}\n", cells.count - shown_count,
                        cells.count > cells.list.size() ? "the first 100,000" : "all");
  }
  const Int128 micro_usd = ledger::floor_divide(cells.total.grains, ledger::kGrainsPerMicroUsd);
  text += fmt::format("{} {}, {} GPU-hours, {} grains = {} dollars (3,600,000,000 grains make a micro-dollar)\n",
                      cells.count, cells.count == 1 ? "cell" : "cells", gpu_hours_text(cells.total.gpu_us),
                      cells.total.grains, exact_dollars_text(micro_usd));
  return text;
}

}  // namespace berth::cli
