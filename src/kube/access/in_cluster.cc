#include "kube/access/in_cluster.h"

#include <fmt/format.h>

#include <string>

namespace berth::kube {

Result<Access> in_cluster_access(const Files& files, const PodSurroundings& pod) {
  if (pod.host.empty() || pod.port.empty()) {
    return fail(ErrorCode::kNotFound,
                "wanted --kubeconfig FILE, KUBECONFIG, or a pod with KUBERNETES_SERVICE_HOST and _PORT, found none");
  }
  const std::string folder(pod.folder);
  auto authority = files.read(folder + "/ca.crt");
  if (!authority) return pass_on(authority.error());
  if (const auto token = files.read(folder + "/token"); !token) return pass_on(token.error());
  const bool is_v6 = pod.host.find(':') != std::string_view::npos;
  Access access;
  access.server =
      is_v6 ? fmt::format("https://[{}]:{}", pod.host, pod.port) : fmt::format("https://{}:{}", pod.host, pod.port);
  access.authority_pem = *std::move(authority);
  access.token_path = folder + "/token";
  if (auto name = files.read(folder + "/namespace")) access.namespace_name = *std::move(name);
  access.source = "the pod's service account";
  return access;
}

}  // namespace berth::kube
