#include "surface/cli/commit/commit_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/commit/commit_options.h"
#include "surface/cli/commit/commit_run.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kCommitHelp =
    "Commitments for a demand by the hour: what to buy and when, beside the best that was possible.";

constexpr const char* kCommitExamples = R"(Examples:
  berth commit --demand examples/buying/demand.csv --demand-format csv --plans examples/buying/plans.csv
  berth commit --demand pods.csv --demand-format openb-pods --plans plans.csv --policies berth,optimal --format json
  berth commit --demand demand.csv --demand-format csv --plans plans.csv --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written).)";

}  // namespace

void add_commit_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("commit", kCommitHelp);
  verb->footer(kCommitExamples);
  const auto words = std::make_shared<CommitWords>();
  verb->add_option("--demand", words->demand, "Units needed in each hour")->type_name("FILE")->required();
  verb->add_option("--demand-format", words->demand_format, "csv or openb-pods")->type_name("WORD")->required();
  verb->add_option("--plans", words->plans, "What a unit costs, by the hour and committed")
      ->type_name("FILE")
      ->required();
  verb->add_option("--policies", words->policies,
                   "all, or on-demand, constant, trailing-168, trailing-720, wang, optimal, berth")
      ->type_name("A,B");
  verb->add_flag("--reverse", words->is_reversed, "The hours in reverse order");
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  run_when_named(*verb, context, words, check_commit_options, run_commit);
}

}  // namespace berth::cli
