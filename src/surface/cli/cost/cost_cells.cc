#include "surface/cli/cost/cost_cells.h"

#include <string_view>

#include "surface/cli/cost/cost_options.h"

namespace berth::cli {
namespace {

bool is_or_any(const std::optional<std::string>& wanted, std::string_view found) { return !wanted || *wanted == found; }

bool is_wanted(const WhyQuestion& question, const ledger::CellPart& part) {
  return is_or_any(question.tenant, part.tenant) && is_or_any(question.service, part.service) &&
         is_or_any(question.sku, part.sku) && is_or_any(question.role, name_of(part.role)) &&
         is_or_any(question.gpu, part.gpu) && is_or_any(question.slice, part.slice);
}

}  // namespace

CostCells find_cells(ledger::Books& books, const WhyQuestion& question) {
  CostCells cells{.list = {}, .total = {}};
  books.for_each_cell_part(question.days.interval(), [&](const ledger::CellPart& part) {
    if (!is_wanted(question, part)) return;
    ++cells.count;
    cells.total += part.amount;
    if (cells.list.size() == kCostCellsMax) return;
    cells.list.push_back({.when = part.when,
                          .gpu = std::string(part.gpu),
                          .sku = std::string(part.sku),
                          .micro_usd_per_gpu_hour = part.micro_usd_per_gpu_hour,
                          .slice = std::string(part.slice),
                          .weight = part.weight,
                          .whole = part.whole,
                          .tenant = std::string(part.tenant),
                          .service = std::string(part.service),
                          .role = part.role,
                          .amount = part.amount});
  });
  return cells;
}

}  // namespace berth::cli
