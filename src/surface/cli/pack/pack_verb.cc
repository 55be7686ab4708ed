#include "surface/cli/pack/pack_options.h"
#include "surface/cli/pack/pack_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kPackHelp =
    "Finds the fewest GPUs (or the cheapest mix) that serve models within their latency targets, with a proof.";

constexpr const char* kPackExamples = R"(Examples:
  berth pack --gpu A100-80GB --profiles profiles/ --profile-format parvagpu --demand demand.csv
  berth pack --gpu H100-80GB --profiles all.csv --profile-format csv --demand demand.csv --verify --headroom 1.2
  berth pack --fleet fleet.csv --profiles all.csv --profile-format csv --demand demand.csv --format json > plan.json
  berth pack --fleet fleet.csv --profiles all.csv --profile-format csv --demand demand.csv --check plan.json
  berth pack --fleet fleet.csv --profiles all.csv --profile-format csv --demand new.csv --from plan.json

demand.csv: model,requests_per_second,latency_ms[,tenant]    fleet.csv: gpu,count,usd_per_gpu_hour

Exit status: 0 done, 1 an output cannot be written or a checked plan is refused, 2 bad input or a demand that cannot be
met (nothing is written), 130 interrupted.)";

}  // namespace

Verb pack_verb() {
  return with_words({.name = "pack", .help = kPackHelp, .examples = kPackExamples}, pack_option_rows,
                    checked_run(check_pack_options, run_pack));
}

}  // namespace berth::cli
