#include "surface/cli/scale/scale_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/scale/scale_options.h"
#include "surface/cli/scale/scale_run.h"
#include "surface/cli/shared/wiring.h"

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

void add_trace_options(CLI::App& verb, TraceWords& words) {
  verb.add_option("--trace", words.path, "The recorded trace, plain or gzip")->type_name("FILE")->required();
  verb.add_option("--trace-format", words.format, "rps-text, csv or azure-llm")->type_name("WORD")->required();
  verb.add_option("--from-second", words.from_second, "The first second of the run; those before it are history")
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("--seconds", words.seconds, "Length of the run; default: to the end of the trace")->type_name("N");
}

}  // namespace

void add_scale_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("scale", kScaleHelp);
  verb->footer(kScaleExamples);
  const auto words = std::make_shared<ScaleWords>();
  add_trace_options(*verb, words->trace);
  verb->add_option("--replica-rps", words->replica_rps, "Requests that a replica serves per second")
      ->type_name("C")
      ->required();
  verb->add_option("--wait-seconds", words->wait_seconds, "How long a request may wait")->type_name("W")->required();
  verb->add_option("--start-seconds", words->start_seconds, "How long a replica takes to be ready")
      ->type_name("L")
      ->required();
  verb->add_option("--attainment", words->attainment, "The share of requests wanted in time")
      ->type_name("SHARE")
      ->capture_default_str();
  verb->add_option("--micro-usd-per-replica-hour", words->micro_usd_per_replica_hour, "What a replica costs")
      ->type_name("P");
  verb->add_option("--policies", words->policies, "all, or target-tracking, bands, tuned, fixed, berth")
      ->type_name("A,B")
      ->capture_default_str();
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--log", words->log, "Write a line wherever a policy wants another number")->type_name("FILE");
  run_when_named(*verb, context, words, check_scale_options, run_scale);
}

}  // namespace berth::cli
