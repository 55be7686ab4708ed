#include "surface/cli/shared/today.h"
#include "surface/cli/tier/tier_predict_options.h"
#include "surface/cli/tier/tier_predict_run.h"
#include "surface/cli/tier/tier_subcommands.h"

namespace berth::cli {
namespace {

constexpr const char* kPredictHelp =
    "Predicts throughput and cost on every tier, and chooses the cheapest one that keeps the target.";

constexpr const char* kPredictExamples = R"(Examples:
  berth tier predict --workload detector.csv --tiers tiers.yaml --model forest \
      --target "requests_per_second=400 latency_ms=60"
  berth tier predict --workload detector.csv --tiers tiers.yaml --rules rules.yaml \
      --target "requests_per_second=400 latency_ms=60" --emit kubernetes pod.yaml
  berth tier predict --workload training.csv --tiers tiers.yaml --model forest --prices --target samples_per_second=900

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written).)";

}  // namespace

Verb tier_predict_subcommand() {
  return with_words(
      {.name = "predict", .help = kPredictHelp, .examples = kPredictExamples}, tier_predict_option_rows,
      checked_run([](const TierPredictWords& words) { return check_tier_predict(words, today()); }, run_tier_predict));
}

}  // namespace berth::cli
