#include "surface/cli/plan/plan_options.h"
#include "surface/cli/plan/plan_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kPlanHelp =
    "Shows the plan that berth makes at one second of a scenario, with its bound and the reasons of its steps.";

constexpr const char* kPlanExamples = R"(Examples:
  berth plan scenario.yaml --at 600
  berth plan scenario.yaml --at 600 --explain
  berth plan scenario.yaml --at 600 --reasons all
  berth plan scenario.yaml --at 0 --format json --timings
  berth plan show

A scenario file with the name of a subcommand is given as ./show. The subcommands are about a running `berth up`.

It starts from the layout of the file, otherwise from the one that berth has at that second.
Exit status: 0 done, 2 bad input or no plan can exist, 130 interrupted.)";

}  // namespace

Verb plan_verb() {
  return with_words({.name = "plan", .help = kPlanHelp, .examples = kPlanExamples}, plan_option_rows,
                    checked_run(check_plan_options, run_plan));
}

}  // namespace berth::cli
