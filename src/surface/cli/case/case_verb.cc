#include "surface/cli/case/case_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/case/case_options.h"
#include "surface/cli/case/case_run.h"
#include "surface/cli/shared/wiring.h"

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

void add_case_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("case", kCaseHelp);
  verb->footer(kCaseExamples);
  const auto words = std::make_shared<CaseWords>();
  verb->add_option("SCENARIO", words->scenario, "The scenario file; its fleet has one GPU model with a price")
      ->required();
  verb->add_option("--attainment", words->attainment,
                   "Share of its requests that each service must answer in time, such as 0.99")
      ->type_name("SHARE")
      ->required();
  verb->add_option("--provision-seconds", words->provision_seconds,
                   "From the order of a GPU until it is there; default: the scenario's")
      ->type_name("N");
  verb->add_option("--committed-micro-usd-per-gpu-hour", words->committed_micro_usd_per_gpu_hour,
                   "Price of a GPU that is paid for all the time; adds the step commitments")
      ->type_name("R");
  verb->add_option("--seed", words->seed, "Seed of the run")->type_name("N")->capture_default_str();
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--journal", words->journal, "Write what happened in each step, DIR/STEP.jsonl")->type_name("DIR");
  run_when_named(*verb, context, words, check_case_options, run_case_verb);
}

}  // namespace berth::cli
