#include "surface/cli/case/case_options.h"
#include "surface/cli/case/case_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kCaseHelp =
    "What slices, reconfiguration, scaling and commitments save, step by step, on the arrivals of a scenario.";

constexpr const char* kCaseExamples = R"(Examples:
  berth case scenario.yaml --attainment 0.99
  berth case scenario.yaml --attainment 0.99 --provision-seconds 60 --committed-micro-usd-per-gpu-hour 2314000
  berth case scenario.yaml --attainment 0.99 --format json --journal journals

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb case_verb() {
  return with_words({.name = "case", .help = kCaseHelp, .examples = kCaseExamples}, case_option_rows,
                    checked_run(check_case_options, run_case_verb));
}

}  // namespace berth::cli
