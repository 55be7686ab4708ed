#include "surface/cli/config/config_reference.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"
#include "surface/up_metrics/metrics_page.h"

namespace berth::cli {
namespace {

constexpr const char* kConfigHelp = "Describes the configuration file of berth up, and its metrics.";

constexpr const char* kConfigExamples = R"(Examples:
  berth config reference > docs/reference/config.md
  berth config metrics > docs/reference/metrics.md

Exit status: 0 done, 2 bad input.)";

}  // namespace

Verb config_verb() {
  Verb reference = {.name = "reference",
                    .help = "Prints every key as a page of Markdown",
                    .run = [](VerbContext& context) { finish(context, config_reference()); }};
  Verb metrics = {.name = "metrics",
                  .help = "Prints every metric as a page of Markdown",
                  .run = [](VerbContext& context) { finish(context, metrics::metrics_page()); }};
  return {.name = "config",
          .help = kConfigHelp,
          .examples = kConfigExamples,
          .subcommands = {std::move(reference), std::move(metrics)}};
}

}  // namespace berth::cli
