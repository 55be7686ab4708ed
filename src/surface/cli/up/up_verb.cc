#include "surface/cli/up/up_verb.h"

#include <memory>

#include "surface/cli/up/up_options.h"
#include "surface/cli/up/up_run.h"

namespace berth::cli {
namespace {

constexpr const char* kUpHelp =
    "Runs the engine on a simulated fleet and serves its API. What happens is recorded in the folder: the next start "
    "with "
    "it goes on where this one ended.";

constexpr const char* kUpExamples = R"(Examples:
  berth up
  berth up --scenario scenario.yaml --data folder --speed 60
  berth up --scenario scenario.yaml --speed max --until end --journal journal.jsonl

Exit status: 0 ended as asked (also by SIGTERM), 1 the port or the folder is in use, what is recorded cannot be read, or
an output cannot be written, 2 bad input, 130 interrupted.)";

}  // namespace

void add_up_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("up", kUpHelp);
  verb->footer(kUpExamples);
  const auto words = std::make_shared<UpOptions>();
  verb->add_option("--world", words->world, "What it runs on: simulated")->type_name("WORD")->capture_default_str();
  verb->add_option("--scenario", words->scenario, "The scenario file; default: a generated demo")->type_name("FILE");
  verb->add_option("--seed", words->seed, "Seed of everything random [1]")->type_name("N");
  verb->add_option("--speed", words->speed, "World seconds per second, or max")->type_name("X")->capture_default_str();
  verb->add_option("--until", words->until, "Stop at a second of the world, or at the end of the scenario")
      ->type_name("SECONDS|end");
  verb->add_option("--policy", words->policy, "berth or fixed [berth]")->type_name("WORD");
  verb->add_option("--approval", words->approval,
                   "Which plans wait for approval: never, first (a GPU's first change) or always [never]")
      ->type_name("WORD");
  verb->add_option("--listen", words->listen, "Where the API listens; port 0: any free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  verb->add_option("--data", words->data,
                   "Folder of the records, the key and the address; default: ~/.local/state/berth")
      ->envname("BERTH_STATE")
      ->type_name("DIR");
  verb->add_option("--journal", words->journal, "Write the replay's journal")->type_name("FILE");
  verb->callback([words, &context] {
    const auto request = check_up_options(*words);
    if (!request) return finish(context, tl::unexpected(request.error()));
    context.status = run_up(*request, context);
  });
}

}  // namespace berth::cli
