#include "surface/cli/commit/commit_options.h"
#include "surface/cli/commit/commit_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

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

Verb commit_verb() {
  return with_words({.name = "commit", .help = kCommitHelp, .examples = kCommitExamples}, commit_option_rows,
                    checked_run(check_commit_options, run_commit));
}

}  // namespace berth::cli
