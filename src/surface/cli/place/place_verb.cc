#include "surface/cli/place/place_options.h"
#include "surface/cli/place/place_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kPlaceHelp =
    "Places the pods of a list on the nodes of a list: how much of the GPUs policies allocate.";

constexpr const char* kPlaceExamples = R"(Examples:
  berth place --nodes examples/scheduling/nodes.csv --pods examples/scheduling/pods.csv
  berth place --nodes nodes.csv --pods pods.csv --policies fgd,berth --seeds 42-44 --churn --format json
  berth place --nodes nodes.csv --pods pods.csv --order given --policies berth --decisions decisions.jsonl
  berth place --nodes nodes.csv --pods pods.csv --as A100-80GB --moves 1
  berth place --nodes examples/scheduling/nodes.csv --pods examples/scheduling/pods.csv --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb place_verb() {
  return with_words({.name = "place", .help = kPlaceHelp, .examples = kPlaceExamples}, place_option_rows,
                    checked_run(check_place_options, run_place));
}

}  // namespace berth::cli
