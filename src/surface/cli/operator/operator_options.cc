#include "surface/cli/operator/operator_options.h"

#include <utility>

#include "kube/access/in_cluster.h"
#include "kube/access/kubeconfig.h"
#include "surface/cli/shared/config_file.h"

namespace berth::cli {
namespace {

Result<kube::Access> find_access(const OperatorWords& words, const OperatorSurroundings& around, const Files& files) {
  if (words.kubeconfig) {
    const std::vector<std::string> paths = {*words.kubeconfig};
    return kube::read_kubeconfig(files, {.paths = paths, .context = words.context});
  }
  const std::vector<std::string> paths = kube::split_paths(around.kubeconfig_list);
  if (!paths.empty())
    return kube::read_kubeconfig(files, {.paths = paths, .context = words.context, .may_be_missing = true});
  if (words.context) return invalid("--context: wanted --kubeconfig FILE or KUBECONFIG with it, found neither");
  return kube::in_cluster_access(files, {.host = around.service_host, .port = around.service_port});
}

}  // namespace

OptionTable operator_option_rows(OperatorWords& words) {
  return {
      {"--config", "FILE", "The configuration file; its kubernetes: own: names the pools of devices (required)",
       &words.config},
      {"--kubeconfig", "FILE", "How the cluster is reached [KUBECONFIG, else the identity of the pod]",
       &words.kubeconfig},
      {"--context", "NAME", "Another context of it than the current one", &words.context},
      {"--dry-run", "", "What would be written is printed, and nothing is written", &words.dry_run},
  };
}

Result<OperatorRequest> check_operator_options(const OperatorWords& words, const OperatorSurroundings& around,
                                               const Files& files) {
  if (!words.config)
    return invalid("--config: wanted a file whose kubernetes: own: names pools of devices, found none");
  const auto text = files.read(*words.config);
  if (!text) return pass_on(text.error());
  auto config = read_config(*text, *words.config);
  if (!config) return pass_on(config.error());
  if (config->kubernetes_own.empty()) {
    return invalid(*words.config + ": kubernetes.own: wanted at least one driver whose pools Berth owns, found none");
  }
  auto access = find_access(words, around, files);
  if (!access) return pass_on(access.error());
  return OperatorRequest{
      .access = *std::move(access), .own = std::move(config->kubernetes_own), .is_dry_run = words.dry_run};
}

}  // namespace berth::cli
