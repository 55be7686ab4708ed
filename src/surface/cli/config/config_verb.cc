#include <string>

#include "kube/schemas/definitions.h"
#include "surface/cli/config/config_reference.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/shared/yaml_text.h"
#include "surface/cli/verbs.h"
#include "surface/up_metrics/metrics_page.h"

namespace berth::cli {
namespace {

constexpr const char* kConfigHelp =
    "Describes the configuration file of berth up, its metrics, and the kinds of objects of berth operator.";

constexpr const char* kConfigExamples = R"(Examples:
  berth config reference > docs/reference/config.md
  berth config metrics > docs/reference/metrics.md
  berth config crds | kubectl apply -f -

Exit status: 0 done, 2 bad input.)";

std::string definitions_text() {
  std::string text = "# What `berth config crds` prints.\n";
  bool is_first = true;
  for (const yaml::Node& definition : kube::custom_resource_definitions()) {
    if (!is_first) text += "---\n";
    is_first = false;
    text += yaml_of(definition);
  }
  return text;
}

}  // namespace

Verb config_verb() {
  Verb reference = {.name = "reference",
                    .help = "Prints every key as a page of Markdown",
                    .run = [](VerbContext& context) { finish(context, config_reference()); }};
  Verb metrics = {.name = "metrics",
                  .help = "Prints every metric as a page of Markdown",
                  .run = [](VerbContext& context) { finish(context, metrics::metrics_page()); }};
  Verb crds = {.name = "crds",
               .help = "Prints the CustomResourceDefinitions of a cluster: Tenant and GpuService",
               .run = [](VerbContext& context) { finish(context, definitions_text()); }};
  return {.name = "config",
          .help = kConfigHelp,
          .examples = kConfigExamples,
          .subcommands = {std::move(reference), std::move(metrics), std::move(crds)}};
}

}  // namespace berth::cli
