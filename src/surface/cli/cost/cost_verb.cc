#include "surface/cli/cost/cost_options.h"
#include "surface/cli/cost/cost_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

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

Verb cost_verb() {
  return with_words({.name = "cost", .help = kCostHelp, .examples = kCostExamples}, cost_option_rows,
                    checked_run(check_cost_words, run_cost));
}

}  // namespace berth::cli
