#include <cstdlib>
#include <string>

#include "surface/cli/operator/operator_options.h"
#include "surface/cli/operator/why_call.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kWhyPodHelp =
    "What a pod of a Kubernetes cluster waits for: units of a GPU, node CPU, a selector, a taint, its claims. Reads "
    "the "
    "cluster and decides as `berth operator` would; writes nothing, and needs no running operator.";

constexpr const char* kWhyPodExamples = R"(Examples:
  berth why pod train-7 -n lab
  berth why pod train-7 -n lab --kubeconfig ~/.kube/config --context lab)";

struct WhyWords {
  std::string pod;
  std::string namespace_name = "default";
  OperatorWords cluster;
};

OptionTable why_rows(WhyWords& words) {
  return {{"NAME", "", "The pod", &words.pod, kRequired},
          {"-n,--namespace", "NAMESPACE", "Its namespace", &words.namespace_name},
          {"--kubeconfig", "FILE", "How the cluster is reached [KUBECONFIG, else the identity of the pod]",
           &words.cluster.kubeconfig},
          {"--context", "NAME", "A context other than the current one", &words.cluster.context}};
}

void run_checked_why(const WhyWords& words, VerbContext& context) {
  auto access = find_cluster(words.cluster, cluster_surroundings(), *context.files);
  if (!access) return finish(context, pass_on(access.error()));
  if (!context.explain_pod) return finish(context, fail(ErrorCode::kUnavailable, "why: not part of this program"));
  finish(context,
         context.explain_pod(
             {.access = *std::move(access), .pod = {words.namespace_name, words.pod}, .files = context.files}));
}

}  // namespace

Verb why_verb() {
  Verb verb{.name = "why", .help = "What something waits for", .examples = kWhyPodExamples};
  verb.subcommands = {with_words({.name = "pod", .help = kWhyPodHelp}, why_rows, run_checked_why)};
  return verb;
}

}  // namespace berth::cli
