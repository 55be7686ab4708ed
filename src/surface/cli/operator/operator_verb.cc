#include "surface/cli/operator/operator_call.h"
#include "surface/cli/operator/operator_options.h"
#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

constexpr const char* kOperatorHelp =
    "Runs the engine on the GPUs of a Kubernetes cluster, on the pools that the configuration names, and serves its "
    "API: "
    "slices of services become claims and pods, and pods that wait at the gate berth.dev/place get devices. The "
    "cluster's "
    "scheduler binds them.";

constexpr const char* kOperatorExamples = R"(Examples:
  berth operator --config berth.yaml --kubeconfig ~/.kube/config --dry-run
  berth operator --config berth.yaml --kubeconfig ~/.kube/config --context lab
  berth operator --config berth.yaml     # in a pod: its service account

Exit status: 0 ended as asked (SIGTERM), 1 the cluster failed, 2 bad input, or a cluster without resource.k8s.io/v1
(nothing is written), 7 no server, 130 interrupted.)";

void run_checked_operator(const OperatorWords& words, VerbContext& context) {
  const auto request = check_operator_options(words, cluster_surroundings(), *context.files);
  if (!request) return finish(context, pass_on(request.error()));
  const auto report_failure = [&context](const Error& error) {
    finish(context, pass_on(error));
    return context.status;
  };
  const auto read_again = [&] { return read_config_again(up_options_of(words), request->up, *context.files); };
  context.status = context.run_operator({.access = request->access,
                                         .own = request->own,
                                         .gpus_max = request->gpus_max,
                                         .lease = request->lease,
                                         .requests_per_second = request->requests_per_second,
                                         .is_dry_run = request->is_dry_run,
                                         .up = request->up.request,
                                         .version = BERTH_VERSION,
                                         .out = context.out,
                                         .err = context.err,
                                         .files = context.files,
                                         .read_own_again = [&]() -> Result<std::vector<kube::OwnedPools>> {
                                           auto again =
                                               check_operator_options(words, cluster_surroundings(), *context.files);
                                           if (!again) return pass_on(again.error());
                                           return std::move(again->own);
                                         },
                                         .report_failure = report_failure,
                                         .read_config_again = read_again});
}

}  // namespace

Verb operator_verb() {
  return with_words({.name = "operator", .help = kOperatorHelp, .examples = kOperatorExamples}, operator_option_rows,
                    run_checked_operator);
}

}  // namespace berth::cli
