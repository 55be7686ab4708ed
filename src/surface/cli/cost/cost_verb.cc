#include "surface/cli/cost/cost_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/cost/cost_options.h"
#include "surface/cli/cost/cost_run.h"
#include "surface/cli/shared/ledger_wiring.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kCostHelp = "Costs from a ledger, the cells behind a figure, and budgets.";

constexpr const char* kCostExamples = R"(Examples:
  berth cost --events week.jsonl --by tenant
  berth cost --events week.jsonl --by day --since 2026-11-01 --until 2026-12-01
  berth cost --events week.jsonl --why "tenant=acme day=2026-11-17"
  berth cost --events week.jsonl --budgets --as-of 2026-11-17T12:00:00Z
  berth cost --events week.jsonl --report out/

Exit status: 0 done, 1 the output cannot be written, 2 bad input (nothing is written).)";

}  // namespace

void add_cost_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("cost", kCostHelp);
  const auto words = std::make_shared<CostWords>();
  add_ledger_options(*verb, words->ledger);
  verb->add_option("--by", words->by, "Sums by tenant, service, sku, role, gpu or day")->type_name("WORD");
  verb->add_option("--since", words->since, "Only from this day (UTC) on")->type_name("DATE");
  verb->add_option("--until", words->until, "Only before this day (UTC)")->type_name("DATE");
  verb->add_flag("--budgets", words->has_budgets, "The budgets in force at --as-of");
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--as-of", words->as_of, "An instant in UTC, such as 2026-11-17T12:00:00Z")->type_name("TIME");
  verb->add_option("--why", words->why, "The cells behind a figure: \"tenant=T day=2026-11-17\"")->type_name("WORDS");
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->footer(kCostExamples);
  run_when_named(*verb, context, words, check_cost_words, run_cost);
}

}  // namespace berth::cli
