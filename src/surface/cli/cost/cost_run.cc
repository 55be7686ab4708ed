#include "surface/cli/cost/cost_run.h"

#include <optional>
#include <variant>

#include "base/core/overloaded.h"
#include "surface/cli/cost/cost_cells.h"
#include "surface/cli/cost/cost_json.h"
#include "surface/cli/cost/cost_table.h"
#include "surface/cli/shared/money_text.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/shared/text_table.h"
#include "surface/pages/cost_report.h"

namespace berth::cli {
namespace {

/// How closed months of these days were booked otherwise, if they were.
std::string booked_otherwise(ledger::Books& books, const ledger::DayRange& days) {
  const ledger::Interval within = days.interval();
  const ledger::Report report = books.report();
  std::string months;
  for (const ledger::MonthRows& month : report.months) {
    const bool is_asked = month.month.begin_us() < within.to_us && month.month.end_us() > within.from_us;
    const auto corrections = ledger::later_corrections(report, month.month);
    if (!is_asked || corrections.empty()) continue;
    months += (months.empty() ? "" : "; ") + month.month.to_string() + " " + corrections_text(sum_of(corrections));
  }
  if (months.empty()) return "";
  return "\n" +
         wrapped(
             "Costs are as known now; invoices and exports of closed months are as booked. In dollars, since "
             "the close: " +
             months + ".") +
         "\n";
}

std::string answered(const CostRequest& request, ledger::Books& books, bool has_colour) {
  const bool is_json = request.format == OutputFormat::kJson;
  return std::visit(Overloaded{[&](const CostByQuestion& question) {
                                 const auto rows = ledger::cost_by(books, question.key, question.days);
                                 if (is_json) return cost_json(question.key, rows);
                                 return cost_table(question.key, rows, has_colour) +
                                        booked_otherwise(books, question.days);
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

}  // namespace

Result<std::string> run_cost(const CostRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto dir = request.page ? std::optional(request.page->dir) : std::nullopt;
  if (auto made = outputs.open_report(dir); !made) return pass_on(made.error());
  auto opened = open_ledger(request.ledger, context);
  if (!opened) return pass_on(opened.error());
  ledger::Books& books = opened->books();
  outputs.begin();
  return outputs.finish(
      {.text = [&] { return answered(request, books, context.has_colour()); },
       .page =
           [&] { return report::render_cost_report(request.ledger.path, cost_overview(books, request.page->range)); }});
}

}  // namespace berth::cli
