#include "surface/cli/tier/tier_subcommands.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kTierHelp =
    "Chooses the cheapest hardware that keeps the target of a workload, and says how sure that is.";

constexpr const char* kTierExamples = R"(Examples:
  berth tier train --data measurements.csv --tiers tiers.yaml --out forest
  berth tier predict --workload detector.csv --tiers tiers.yaml --model forest --target samples_per_second=900
  berth tier evaluate measurements.csv --source csv --tiers tiers.yaml --measure 1

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb tier_verb() {
  return {.name = "tier",
          .help = kTierHelp,
          .examples = kTierExamples,
          .subcommands = {tier_predict_subcommand(), tier_train_subcommand(), tier_evaluate_subcommand(),
                          tier_explain_subcommand()}};
}

}  // namespace berth::cli
