#include "surface/cli/scale/scale_options.h"
#include "surface/cli/scale/scale_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kScaleHelp =
    "How many replicas a service runs, second by second: autoscalers on a recorded load.";

constexpr const char* kScaleExamples = R"(Examples:
  berth scale --trace examples/buying/requests.txt --trace-format rps-text --from-second 21600 --replica-rps 8
              --wait-seconds 2 --start-seconds 60
  berth scale --trace trace.csv --trace-format csv --replica-rps 0.5 --wait-seconds 10 --start-seconds 120
              --micro-usd-per-replica-hour 3673000 --policies target-tracking,berth --log wants.jsonl --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb scale_verb() {
  return with_words({.name = "scale", .help = kScaleHelp, .examples = kScaleExamples}, scale_option_rows,
                    checked_run(check_scale_options, run_scale));
}

}  // namespace berth::cli
