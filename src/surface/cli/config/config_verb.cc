#include "surface/cli/config/config_verb.h"

#include "surface/cli/config/config_reference.h"

namespace berth::cli {
namespace {

constexpr const char* kConfigHelp = "Describes the configuration file of berth up.";

constexpr const char* kConfigExamples = R"(Examples:
  berth config reference > docs/config.md

Exit status: 0 done, 2 bad input.)";

}  // namespace

void add_config_verb(CLI::App& app, VerbContext& context) {
  CLI::App* verb = app.add_subcommand("config", kConfigHelp);
  verb->footer(kConfigExamples);
  verb->require_subcommand(1);
  CLI::App* printing = verb->add_subcommand("reference", "Prints every key as a page of Markdown");
  printing->callback([&context] { finish(context, config_reference()); });
}

}  // namespace berth::cli
