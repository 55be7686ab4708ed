#include "surface/cli/shared/command_line.h"
#include "surface/cli/tier/tier_evaluate_options.h"
#include "surface/cli/tier/tier_evaluate_run.h"
#include "surface/cli/tier/tier_subcommands.h"

namespace berth::cli {

Verb tier_evaluate_subcommand() {
  return with_words({.name = "evaluate",
                     .help = "Judge the choice of tiers on recorded measurements, against the best tier in hindsight"},
                    tier_evaluate_option_rows, checked_run(check_tier_evaluate_options, run_tier_evaluate));
}

}  // namespace berth::cli
