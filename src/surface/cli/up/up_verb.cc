#include "surface/cli/up/up_verb.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "surface/cli/up/config_file.h"
#include "surface/cli/up/config_keys.h"
#include "surface/cli/up/up_options.h"
#include "surface/cli/up/up_run.h"

namespace berth::cli {
namespace {

constexpr const char* kUpHelp =
    "Runs the engine on a simulated fleet, or on this machine's GPUs, and serves its API. What happens is recorded in "
    "the folder: the next start "
    "with "
    "it goes on where this one ended.";

constexpr const char* kUpExamples = R"(Examples:
  berth up
  berth up --scenario scenario.yaml --data folder --speed 60
  berth up --scenario scenario.yaml --speed max --until end --journal journal.jsonl
  berth up --config berth.yaml    # docs/config.md; kill -HUP reads it again

Exit status: 0 ended as asked (also by SIGTERM), 1 the port or the folder is in use, what is recorded cannot be read, or
an output cannot be written, 2 bad input, 130 interrupted.)";

}  // namespace

void add_up_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("up", kUpHelp);
  verb->footer(kUpExamples);
  const auto words = std::make_shared<UpOptions>();
  verb->add_option("--config", words->config, "A YAML file with these options and more; flags precede it")
      ->type_name("FILE");
  for (const ConfigKey& key : config_keys()) {
    if (key.option == nullptr) continue;
    const std::string fallback = key.fallback.empty() ? "" : fmt::format(" [{}]", key.fallback);
    CLI::Option* option =
        verb->add_option(fmt::format("--{}", key.name), (*words).*key.option, std::string(key.meaning) + fallback);
    option->type_name(std::string(key.value));
    if (key.option == &UpOptions::data) option->envname("BERTH_STATE");
  }
  verb->add_flag("--manage-gpus", words->manage_gpus,
                 "In a local world: the GPUs that the configuration lists under manage may be changed");
  verb->add_flag("--dry-run", words->dry_run,
                 "With --manage-gpus: what would be done is recorded, and nothing is done");
  verb->callback([words, &context] {
    const auto request = read_up_request(*words, *context.files);
    if (!request) return finish(context, tl::unexpected(request.error()));
    context.status = run_up(*request, context);
  });
}

}  // namespace berth::cli
