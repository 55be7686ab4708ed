#include "surface/cli/plan/plan_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/plan/plan_options.h"
#include "surface/cli/plan/plan_run.h"

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

void add_plan_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("plan", kPlanHelp);
  verb->footer(kPlanExamples);
  const auto words = std::make_shared<PlanWords>();
  verb->add_option("SCENARIO", words->scenario, "The scenario file (YAML; its keys: docs/scenario.md)");
  verb->add_option("--at", words->at, "The second of the run at which the plan is made (required)")
      ->type_name("SECONDS");
  verb->add_option("--seed", words->seed, "Seed of everything random, 0 to 2^63-1")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--reasons", words->reasons, "Steps whose reasons are computed, those with the largest gain; or all")
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--explain", words->is_explained, "Also show the arithmetic of each service's share");
  verb->add_flag("--timings", words->has_timings, "Also show how long solving took (it differs from run to run)");
  // The options are not `required()`: CLI11 would want them of the subcommands too (client/client_verbs.h adds those).
  verb->callback([verb, words, &context] {
    if (!verb->get_subcommands().empty()) return;
    for (const char* option : {"SCENARIO", "--at"}) {
      if (verb->count(option) == 0) throw CLI::RequiredError(option);
    }
    const auto request = check_plan_options(*words);
    finish(context, request ? run_plan(*request, context) : Result<std::string>(pass_on(request.error())));
  });
}

}  // namespace berth::cli
