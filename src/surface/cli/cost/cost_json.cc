#include "surface/cli/cost/cost_json.h"

#include <fmt/format.h>

#include <optional>

#include "base/json/writer.h"

namespace berth::cli {

using json::Writer;

std::string cost_json(ledger::CostKey key, const std::vector<ledger::CostRow>& rows) {
  Writer json;
  json.open_object().member("berth", 1).member("by", name_of(key)).open_list("rows");
  for (const ledger::CostRow& row : rows) {
    json.open_object().member("key", row.key).member("gpu_us", row.amount.gpu_us);
    json.member("grains", fmt::format("{}", row.amount.grains)).member("micro_usd", row.micro_usd());
    json.close_object();
  }
  json.close_list().close_object();
  return json.take_line();
}

std::string budgets_json(const std::vector<ledger::BudgetStanding>& standings) {
  Writer json;
  json.open_object().member("berth", 1).open_list("budgets");
  for (const ledger::BudgetStanding& standing : standings) {
    json.open_object().member("tenant", standing.budget.tenant);
    json.member("spent_micro_usd", standing.spent_micro_usd).open_object("reached");
    for (std::size_t i = 0; i < ledger::kBudgetPercents.size(); ++i) {
      const auto& day = standing.reached.at(i);
      json.member(fmt::format("{}", ledger::kBudgetPercents.at(i)),
                  day ? std::optional(day->to_string()) : std::nullopt);
    }
    json.close_object().member("forecast_micro_usd", standing.forecast_micro_usd);
    json.member("state", name_of(standing.state)).close_object();
  }
  json.close_list().close_object();
  return json.take_line();
}

std::string cells_json(const CostCells& cells) {
  Writer json;
  json.open_object().member("berth", 1).open_list("cells");
  for (const CostCell& cell : cells.list) {
    json.open_object().member("gpu", cell.gpu).member("slice", cell.slice).member("sku", cell.sku);
    json.member("tenant", cell.tenant).member("service", cell.service).member("role", name_of(cell.role));
    json.member("from_us", cell.when.from_us).member("to_us", cell.when.to_us);
    json.member("micro_usd_per_gpu_hour", cell.micro_usd_per_gpu_hour);
    json.member("weight", cell.weight).member("whole", cell.whole);
    json.member("gpu_us", cell.amount.gpu_us).member("grains", fmt::format("{}", cell.amount.grains));
    json.close_object();
  }
  json.close_list().member("cells_count", cells.count);
  json.member("gpu_us", cells.total.gpu_us).member("grains", fmt::format("{}", cells.total.grains));
  json.member("micro_usd", ledger::floor_divide(cells.total.grains, ledger::kGrainsPerMicroUsd));
  json.close_object();
  return json.take_line();
}

}  // namespace berth::cli
