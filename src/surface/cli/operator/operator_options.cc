#include "surface/cli/operator/operator_options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/core/text.h"
#include "kube/access/in_cluster.h"
#include "kube/access/kubeconfig.h"
#include "surface/cli/shared/config_file.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

Result<kube::LeaseOptions> read_lease_words(const OperatorWords& words) {
  constexpr std::int64_t kSecondsMax = 3600;
  const std::size_t slash = words.lease.find('/');
  kube::LeaseOptions lease;
  lease.name = {words.lease.substr(0, slash), slash == std::string::npos ? "" : words.lease.substr(slash + 1)};
  if (lease.name.namespace_name.empty() || lease.name.name.empty() || lease.name.name.find('/') != std::string::npos)
    return invalid(fmt::format("--lease: wanted NAMESPACE/NAME, found \"{}\"", words.lease));
  const auto parts = split_words("--lease-seconds", words.lease_seconds, "seconds");
  if (!parts) return pass_on(parts.error());
  const auto refused = [&] {
    return invalid(
        fmt::format("--lease-seconds: wanted DURATION,DEADLINE,RETRY in whole seconds, each larger than the "
                    "next, up to {}, found \"{}\"",
                    kSecondsMax, words.lease_seconds));
  };
  if (parts->size() != 3) return refused();
  Micros* const targets[] = {&lease.duration, &lease.renew_deadline, &lease.retry};
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const auto seconds = parse_count((*parts)[i], kSecondsMax);
    if (!seconds) return refused();
    *targets[i] = Micros::seconds(*seconds);
  }
  if (!kube::check_lease_options(lease)) return refused();
  return lease;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

OperatorSurroundings cluster_surroundings() {
  return {.kubeconfig_list = environment("KUBECONFIG"),
          .service_host = environment("KUBERNETES_SERVICE_HOST"),
          .service_port = environment("KUBERNETES_SERVICE_PORT")};
}

Result<kube::Access> find_cluster(const OperatorWords& words, const OperatorSurroundings& around, const Files& files) {
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

OptionTable operator_option_rows(OperatorWords& words) {
  return {
      {"--config", "FILE", "The configuration file; its kubernetes: own: names the pools of devices (required)",
       &words.config},
      {"--kubeconfig", "FILE", "How the cluster is reached [KUBECONFIG, else the identity of the pod]",
       &words.kubeconfig},
      {"--context", "NAME", "A context other than the current one", &words.context},
      {"--lease", "NAMESPACE/NAME", "The Lease for leader election; the other operators are standbys", &words.lease},
      {"--lease-seconds", "DURATION,DEADLINE,RETRY",
       "When standbys take a Lease that is not renewed, when its holder stops writing, and the time between renewals",
       &words.lease_seconds},
      {"--requests-per-second", "COUNT", "The most requests that it sends to the API server",
       &words.requests_per_second},
      {"--dry-run", "", "Prints what would be written to the cluster; writes nothing there", &words.dry_run},
      {"--data", "FOLDER",
       "The folder for the journal and other state; it belongs to one cluster [~/.local/state/berth]", &words.data},
      {"--listen", "HOST:PORT", "A loopback address for the API and the page [127.0.0.1:8642]", &words.listen},
      {"--scenario", "FILE",
       "Costs and settings of the planner; its fleet is that of the cluster, and it has no services", &words.scenario},
      {"--load", "simulated", "Services get the requests that their arrivals describe [they expect what they state]",
       &words.load},
      {"--policy", "NAME", "berth or fixed [berth]", &words.policy},
      {"--approval", "WHEN", "never, first or always [never]", &words.approval},
      {"--seed", "N", "Seed of the simulation [1]", &words.seed},
      {"--journal", "FILE", "What happens, as JSON lines", &words.journal},
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
  auto lease = read_lease_words(words);
  if (!lease) return pass_on(lease.error());
  constexpr std::int64_t kRequestsMax = 100'000;
  const auto requests = whole_option("--requests-per-second", words.requests_per_second, 1, kRequestsMax);
  if (!requests) return pass_on(requests.error());
  auto up = read_up_request(up_options_of(words), files);
  if (!up) return pass_on(up.error());
  up->request.is_dry_run = words.dry_run;
  auto access = find_cluster(words, around, files);
  if (!access) return pass_on(access.error());
  return OperatorRequest{.access = *std::move(access),
                         .own = std::move(config->kubernetes_own),
                         .gpus_max = config->kubernetes_gpus_max,
                         .lease = *std::move(lease),
                         .requests_per_second = *requests,
                         .is_dry_run = words.dry_run,
                         .up = *std::move(up)};
}

UpOptions up_options_of(const OperatorWords& words) {
  UpOptions options;
  options.config = words.config;
  options.world = "kubernetes";
  options.scenario = words.scenario;
  options.data = words.data;
  options.listen = words.listen;
  options.load = words.load;
  options.policy = words.policy;
  options.approval = words.approval;
  options.seed = words.seed;
  options.journal = words.journal;
  return options;
}

}  // namespace berth::cli
