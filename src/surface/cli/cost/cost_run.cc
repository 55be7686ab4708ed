#include "surface/cli/cost/cost_run.h"

#include <variant>

#include "base/core/overloaded.h"
#include "surface/cli/cost/cost_cells.h"
#include "surface/cli/cost/cost_json.h"
#include "surface/cli/cost/cost_table.h"
#include "surface/cli/shared/report_folder.h"
#include "surface/pages/cost_report.h"

namespace berth::cli {

Result<std::string> run_cost(const CostRequest& request, const VerbContext& context) {
  ReportFolder folder;
  if (request.page) {
    if (auto made = folder.make(request.page->dir); !made) return pass_on(made.error());
  }
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  ledger::Books& books = opened->books();
  const bool is_json = request.format == OutputFormat::kJson;
  const bool has_colour = context.has_colour();
  if (request.page) {
    const auto overview = cost_overview(books, request.page->range);
    if (auto done = folder.write_page(report::render_cost_report(request.ledger.path, overview)); !done) {
      return pass_on(done.error());
    }
  }
  return std::visit(Overloaded{[&](const CostByQuestion& question) {
                                 const auto rows = ledger::cost_by(books, question.key, question.days);
                                 return is_json ? cost_json(question.key, rows)
                                                : cost_table(question.key, rows, has_colour);
                               },
                               [&](const BudgetQuestion& question) {
                                 const auto standings = ledger::budget_standings(books, question.as_of_us);
                                 return is_json ? budgets_json(standings) : budgets_table(standings, has_colour);
                               },
                               [&](const WhyQuestion& question) {
                                 const CostCells cells = find_cells(books, question);
                                 return is_json ? cells_json(cells) : cells_table(cells, has_colour);
                               }},
                    request.question);
}

}  // namespace berth::cli
