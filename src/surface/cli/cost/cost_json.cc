#include "surface/cli/cost/cost_json.h"

#include <fmt/format.h>

#include "base/json/writer.h"

namespace berth::cli {

using json::JsonWriter;

std::string cost_json(ledger::CostKey key, const std::vector<ledger::CostRow>& rows) {
  JsonWriter json;
  json.open_object().key("berth").integer(1).key("by").text(name_of(key)).key("rows").open_list();
  for (const ledger::CostRow& row : rows) {
    json.open_object().key("key").text(row.key).key("gpu_us").integer(row.amount.gpu_us);
    json.key("grains").text(fmt::format("{}", row.amount.grains)).key("micro_usd").integer(row.micro_usd());
    json.close_object();
  }
  json.close_list().close_object();
  return json.take();
}

std::string budgets_json(const std::vector<ledger::BudgetStanding>& standings) {
  JsonWriter json;
  json.open_object().key("berth").integer(1).key("budgets").open_list();
  for (const ledger::BudgetStanding& standing : standings) {
    json.open_object().key("tenant").text(standing.budget.tenant);
    json.key("spent_micro_usd").integer(standing.spent_micro_usd).key("reached").open_object();
    for (std::size_t i = 0; i < ledger::kBudgetPercents.size(); ++i) {
      json.key(fmt::format("{}", ledger::kBudgetPercents.at(i)));
      const auto& day = standing.reached.at(i);
      if (day) {
        json.text(day->to_string());
      } else {
        json.null();
      }
    }
    json.close_object().key("forecast_micro_usd").integer(standing.forecast_micro_usd);
    json.key("state").text(name_of(standing.state)).close_object();
  }
  json.close_list().close_object();
  return json.take();
}

std::string cells_json(const CostCells& cells) {
  JsonWriter json;
  json.open_object().key("berth").integer(1).key("cells").open_list();
  for (const CostCell& cell : cells.list) {
    json.open_object().key("gpu").text(cell.gpu).key("slice").text(cell.slice).key("sku").text(cell.sku);
    json.key("tenant").text(cell.tenant).key("service").text(cell.service).key("role").text(name_of(cell.role));
    json.key("from_us").integer(cell.when.from_us).key("to_us").integer(cell.when.to_us);
    json.key("micro_usd_per_gpu_hour");
    if (cell.micro_usd_per_gpu_hour) {
      json.integer(*cell.micro_usd_per_gpu_hour);
    } else {
      json.null();
    }
    json.key("weight").integer(cell.weight).key("whole").integer(cell.whole);
    json.key("gpu_us").integer(cell.amount.gpu_us).key("grains").text(fmt::format("{}", cell.amount.grains));
    json.close_object();
  }
  json.close_list().key("cells_count").integer(static_cast<Int128>(cells.count));
  json.key("gpu_us").integer(cells.total.gpu_us).key("grains").text(fmt::format("{}", cells.total.grains));
  json.key("micro_usd").integer(ledger::floor_divide(cells.total.grains, ledger::kGrainsPerMicroUsd));
  json.close_object();
  return json.take();
}

}  // namespace berth::cli
