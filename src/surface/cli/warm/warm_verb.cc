#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"
#include "surface/cli/warm/warm_options.h"
#include "surface/cli/warm/warm_run.h"

namespace berth::cli {
namespace {

constexpr const char* kWarmHelp =
    "When apps are loaded before they are asked for: what cold starts and idle minutes policies cost on a trace.";

constexpr const char* kWarmExamples = R"(Examples:
  berth warm --trace examples/warm/apps.csv --trace-format csv
  berth warm --trace examples/warm/apps.csv --trace-format csv --weigh apps --policies hybrid,curve --report out
  berth warm --trace examples/warm/apps.csv --trace-format csv --memory examples/warm/sizes.csv --memory-mib 4096

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb warm_verb() {
  return with_words({.name = "warm", .help = kWarmHelp, .examples = kWarmExamples}, warm_option_rows,
                    checked_run(check_warm_options, run_warm));
}

}  // namespace berth::cli
