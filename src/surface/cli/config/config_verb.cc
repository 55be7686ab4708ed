#include "surface/cli/config/config_reference.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kConfigHelp = "Describes the configuration file of berth up.";

constexpr const char* kConfigExamples = R"(Examples:
  berth config reference > docs/reference/config.md

Exit status: 0 done, 2 bad input.)";

}  // namespace

Verb config_verb() {
  Verb reference = {.name = "reference",
                    .help = "Prints every key as a page of Markdown",
                    .run = [](VerbContext& context) { finish(context, config_reference()); }};
  return {.name = "config", .help = kConfigHelp, .examples = kConfigExamples, .subcommands = {std::move(reference)}};
}

}  // namespace berth::cli
