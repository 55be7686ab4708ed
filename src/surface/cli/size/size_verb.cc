#include "surface/cli/shared/command_line.h"
#include "surface/cli/size/size_options.h"
#include "surface/cli/size/size_run.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kSizeHelp =
    "Finds, by replay, how many GPUs a scenario needs under each policy so that every service reaches its target share "
    "of answers in time.";

constexpr const char* kSizeExamples = R"(Examples:
  berth size scenario.yaml --attainment 0.99
  berth size scenario.yaml --attainment 0.999 --policies shared,whole,paris --max-gpus 200 --seeds 5
  berth size scenario.yaml --attainment 0.99 --policies whole,berth --ideas
  berth size scenario.yaml --attainment 0.99 --format json --report out

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb size_verb() {
  return with_words({.name = "size", .help = kSizeHelp, .examples = kSizeExamples}, size_option_rows,
                    checked_run(check_size_options, run_size));
}

}  // namespace berth::cli
