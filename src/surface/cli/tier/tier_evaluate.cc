#include "surface/cli/shared/command_line.h"
#include "surface/cli/tier/tier_evaluate_options.h"
#include "surface/cli/tier/tier_evaluate_run.h"
#include "surface/cli/tier/tier_subcommands.h"

namespace berth::cli {
namespace {

constexpr const char* kEvaluateHelp =
    "Judges the choice of tiers on recorded measurements, against the best tier in hindsight.";

constexpr const char* kEvaluateExamples = R"(Examples:
  berth tier evaluate measurements.csv --source csv --tiers tiers.yaml --measure 1
  berth tier evaluate prof_data --source parvagpu --log cases.jsonl

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb tier_evaluate_subcommand() {
  return with_words({.name = "evaluate", .help = kEvaluateHelp, .examples = kEvaluateExamples},
                    tier_evaluate_option_rows, checked_run(check_tier_evaluate_options, run_tier_evaluate));
}

}  // namespace berth::cli
