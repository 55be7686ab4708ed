#include "surface/cli/shared/command_line.h"
#include "surface/cli/spot/spot_options.h"
#include "surface/cli/spot/spot_run.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kSpotHelp =
    "A job with a deadline on spot and on-demand instances: what policies pay on recorded availability.";

constexpr const char* kSpotExamples = R"(Examples:
  berth spot --windows examples/buying/windows.jsonl
  berth spot --windows windows.jsonl --policies uniform-progress,berth,optimal --format json --report out
  berth spot --windows windows.jsonl --zones together --task-hours 24 --deadline-hours 30 --restart-hours 0.2

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb spot_verb() {
  return with_words({.name = "spot", .help = kSpotHelp, .examples = kSpotExamples}, spot_option_rows,
                    checked_run(check_spot_options, run_spot));
}

}  // namespace berth::cli
