#include "surface/cli/schedule/schedule_options.h"
#include "surface/cli/schedule/schedule_run.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kScheduleHelp =
    "Runs the jobs of a list on a pool of GPUs: how long they wait and take under policies.";

constexpr const char* kScheduleExamples = R"(Examples:
  berth schedule --trace examples/scheduling/jobs.csv --tenants examples/scheduling/tenants.csv --gpus 64
  berth schedule --trace philly_jobs.csv --trace-format philly --gpus 500 --policies las,berth --format json
  berth schedule --trace jobs.csv --gpus 64 --policies berth --log log.jsonl
  berth schedule --trace jobs.csv --gpus 64 --policies las,srpt,berth --report out
  berth schedule --trace jobs.csv --gpus 64 --why job17 --at 3600
  berth schedule --trace jobs.csv --gpus 64 --slot "gpus=8 hours=2 before=90000" --at 3600

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

Verb schedule_verb() {
  return with_words({.name = "schedule", .help = kScheduleHelp, .examples = kScheduleExamples}, schedule_option_rows,
                    checked_run(check_schedule_options, run_schedule));
}

}  // namespace berth::cli
