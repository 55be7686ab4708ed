#include "surface/cli/replay/replay_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "surface/cli/replay/replay_options.h"
#include "surface/cli/replay/replay_run.h"
#include "surface/cli/shared/wiring.h"

namespace berth::cli {
namespace {

constexpr const char* kReplayHelp =
    "Replays the arrivals of a scenario under several policies and reports what each gives and costs.";

constexpr const char* kReplayExamples = R"(Examples:
  berth replay scenario.yaml
  berth replay scenario.yaml --policies shared,static-best --report out
  berth replay scenario.yaml --format json --journal journal.jsonl > figures.json
  berth replay --journal-in ~/.local/state/berth --policies recorded,berth --add-gpus A100-80GB=2

Exit status: 0 done, 1 an output cannot be written, 2 bad input (nothing is written), 130 interrupted.)";

}  // namespace

void add_replay_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("replay", kReplayHelp);
  verb->footer(kReplayExamples);
  const auto words = std::make_shared<ReplayOptions>();
  verb->add_option("SCENARIO", words->scenario, "The scenario file (YAML; its keys: docs/scenario.md)");
  verb->add_option("--journal-in", words->journal_in,
                   "Instead of a scenario: what a berth up has recorded in its folder; the policy recorded is what "
                   "really happened")
      ->type_name("DIR");
  verb->add_option("--from", words->from, "Of --journal-in: the first second; default: the first that is recorded")
      ->type_name("TIME");
  verb->add_option("--to", words->to, "Of --journal-in: the second after the last; default: as far as is recorded")
      ->type_name("TIME");
  verb->add_option("--add-gpus", words->added_gpus, "Of --journal-in: more GPUs for the policies, may be repeated")
      ->type_name("MODEL=N")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--policies", words->policies,
                   "Which policies, such as shared,static-best; default: all; of --journal-in: "
                   "recorded,berth,static-even")
      ->type_name("A,B");
  verb->add_option("--seed", words->seed, "Seed of everything random, 0 to 2^63-1")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--format", words->format, "table or json")->type_name("WORD")->capture_default_str();
  verb->add_option("--report", words->report, "Write a page with charts, DIR/index.html")->type_name("DIR");
  verb->add_option("--journal", words->journal, "Write every event, one JSON object per line")->type_name("FILE");
  verb->add_option("--set", words->parameters, "A policy's parameter (docs/policies.md), may be repeated")
      ->type_name("POLICY.NAME=VALUE")
      ->allow_extra_args(false);
  verb->add_flag("--timings", words->has_timings, "Also show wall-clock times (they differ from run to run)");
  run_when_named(*verb, context, words, check_replay_options, run_replay);
}

}  // namespace berth::cli
