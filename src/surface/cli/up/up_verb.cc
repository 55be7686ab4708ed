#include <fmt/format.h>

#include <string>

#include "surface/cli/shared/command_line.h"
#include "surface/cli/shared/config_keys.h"
#include "surface/cli/shared/up_options.h"
#include "surface/cli/up/stated_request.h"
#include "surface/cli/up/up_call.h"
#include "surface/cli/verbs.h"

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
  berth up --config berth.yaml    # docs/reference/config.md; kill -HUP reads it again

Exit status: 0 ended as asked (also by SIGTERM), 1 the port or the folder is in use, what is recorded cannot be read, or
an output cannot be written, 2 bad input, 130 interrupted.)";

OptionRow up_option_row(const ConfigKey& key, UpOptions& words) {
  const std::string fallback = key.fallback.empty() ? "" : fmt::format(" [{}]", key.fallback);
  OptionRow row = {.names = fmt::format("--{}", key.flag_name()),
                   .value = std::string(key.value),
                   .meaning = std::string(key.meaning) + fallback,
                   .target = &(words.*key.option)};
  if (key.option == &UpOptions::data) row.traits.environment = "BERTH_STATE";
  return row;
}

OptionTable up_option_rows(UpOptions& words) {
  OptionTable rows = {
      {"--config", "FILE", "A YAML file with these options and more; flags take precedence", &words.config}};
  for (const ConfigKey& key : config_keys()) {
    if (key.option != nullptr) rows.push_back(up_option_row(key, words));
  }
  rows.push_back({"--manage-gpus", "",
                  "In a local world: the GPUs that the configuration lists under manage may be changed",
                  &words.manage_gpus});
  rows.push_back(
      {"--dry-run", "", "With --manage-gpus: what would be done is recorded, and nothing is done", &words.dry_run});
  rows.push_back(
      {"--accept-gap", "",
       "In a local world that was down for more than 7 days: the wall clock is right, and that time is booked "
       "to the holders",
       &words.accept_gap});
  return rows;
}

void run_checked_up(const UpOptions& words, VerbContext& context) {
  const auto stated = read_up_request(words, *context.files);
  if (!stated) return finish(context, pass_on(stated.error()));
  if (stated->request.world == live::WorldKind::kKubernetes) {
    return finish(context,
                  invalid("--world: wanted simulated, local or auto, found \"kubernetes\"; the world of a cluster "
                          "is run by berth operator"));
  }
  const auto report_failure = [&context](const Error& error) {
    finish(context, pass_on(error));
    return context.status;
  };
  const auto read_again = [&] { return read_config_again(words, *stated, *context.files); };
  context.status = context.run_up({.request = stated->request,
                                   .version = BERTH_VERSION,
                                   .out = context.out,
                                   .err = context.err,
                                   .files = context.files,
                                   .report_failure = report_failure,
                                   .read_config_again = read_again});
}

}  // namespace

Verb up_verb() {
  return with_words({.name = "up", .help = kUpHelp, .examples = kUpExamples}, up_option_rows, run_checked_up);
}

}  // namespace berth::cli
