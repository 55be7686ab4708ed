#include "surface/cli/advise/advise_options.h"
#include "surface/cli/advise/advise_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/shared/today.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kAdviseHelp = "The cheapest instances that hold a list of pods, with a proven bound.";

constexpr const char* kAdviseExamples = R"(Examples:
  berth advise --pods examples/buying/pods.csv
  berth advise --pods pods.csv --offers negotiated.csv,aws_gpu.csv --regions us-east-1 --at 2026-08-01
  berth advise --pods pods.csv --purchase spot --format json --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input, 130 interrupted.)";

}  // namespace

Verb advise_verb() {
  const auto check = [](const AdviseWords& typed) { return check_advise_options(typed, today()); };
  return with_words({.name = "advise", .help = kAdviseHelp, .examples = kAdviseExamples}, advise_option_rows,
                    checked_run(check, run_advise));
}

}  // namespace berth::cli
