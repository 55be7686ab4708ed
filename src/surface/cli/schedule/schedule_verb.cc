#include "surface/cli/schedule/schedule_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/schedule/schedule_options.h"
#include "surface/cli/schedule/schedule_run.h"
#include "surface/cli/shared/wiring.h"

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

void add_schedule_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("schedule", kScheduleHelp);
  verb->footer(kScheduleExamples);
  const auto words = std::make_shared<JobScheduleWords>();
  verb->add_option("--trace", words->trace, "The jobs")->type_name("FILE")->required();
  verb->add_option("--trace-format", words->trace_format, "own, philly or shockwave")
      ->type_name("WORD")
      ->capture_default_str();
  verb->add_option("--gpus", words->gpus, "GPUs of the pool")->type_name("N")->required();
  verb->add_option("--tenants", words->tenants, "A CSV file: tenant,parent,guaranteed,limit,weight")->type_name("FILE");
  verb->add_option("--policies", words->policies, "all, or fifo, skip, sjf, easy, las, srpt, fair, berth")
      ->type_name("A,B")
      ->capture_default_str();
  verb->add_option("--round-seconds", words->round_seconds, "Seconds between decisions of las, srpt and fair")
      ->type_name("S")
      ->capture_default_str();
  verb->add_option("--restart-seconds", words->restart_seconds,
                   "Seconds without progress at each start after a preemption")
      ->type_name("S")
      ->capture_default_str();
  verb->add_option("--min-run-seconds", words->min_run_seconds, "Seconds that a job runs before it may be preempted")
      ->type_name("S")
      ->capture_default_str();
  verb->add_option("--reclaim-seconds", words->reclaim_seconds, "Seconds within which lent GPUs come back")
      ->type_name("S")
      ->capture_default_str();
  verb->add_option("--format", words->format, "table or json [table; json for answers to questions]")
      ->type_name("WORD");
  verb->add_option("--log", words->log, "Write each start, preemption and finish as a line of JSON")->type_name("FILE");
  verb->add_option(
          "--estimates", words->estimates,
          "Write for each submit, under fifo, easy and berth, when the job is expected to start, as a line of JSON")
      ->type_name("FILE");
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--why", words->why, "Explain why this job waits at --at")->type_name("JOB");
  verb->add_option("--slot", words->slot, "Find when GPUs are free: \"gpus=8 hours=2 before=SECONDS\"")
      ->type_name("TEXT");
  verb->add_option("--at", words->at, "The second, from the first submit, that is asked about")->type_name("S");
  run_when_named(*verb, context, words, check_schedule_options, run_schedule);
}

}  // namespace berth::cli
