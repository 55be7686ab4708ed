#include "surface/cli/size/size_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/shared/wiring.h"
#include "surface/cli/size/size_options.h"
#include "surface/cli/size/size_run.h"

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

void add_size_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("size", kSizeHelp);
  verb->footer(kSizeExamples);
  const auto words = std::make_shared<SizeWords>();
  verb->add_option("SCENARIO", words->scenario,
                   "The scenario file; its fleet has one GPU model, whose count is searched")
      ->required();
  verb->add_option("--attainment", words->attainment,
                   "Share of its requests that each service must answer in time, such as 0.99")
      ->type_name("SHARE")
      ->required();
  verb->add_option("--policies", words->policies, "Which policies, such as shared,whole; default: all but fixed")
      ->type_name("A,B");
  verb->add_option("--max-gpus", words->gpus_max, "The largest count to try")->type_name("N")->capture_default_str();
  verb->add_option("--seeds", words->seed_count, "How many seeds (1, 2, ..) must agree")
      ->type_name("K")
      ->capture_default_str();
  verb->add_flag("--ideas", words->has_ideas,
                 "Also show how many GPUs slices, operating points and further features save, added one by one");
  verb->add_option("--set", words->parameters, "A policy's parameter (docs/policies.md), may be repeated")
      ->type_name("POLICY.NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words->report, "Write a page that compares the answers, DIR/index.html")
      ->type_name("DIR");
  run_when_named(*verb, context, words, check_size_options, run_size);
}

}  // namespace berth::cli
