/// The identity that a pod is given by the cluster in which it runs.
#pragma once

#include <string_view>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "kube/access/access.h"

namespace berth::kube {

/// Where the kubelet puts it.
inline constexpr std::string_view kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/// What the environment of a pod says.
struct PodSurroundings {
  std::string_view host = {};  ///< KUBERNETES_SERVICE_HOST
  std::string_view port = {};  ///< KUBERNETES_SERVICE_PORT
  std::string_view folder = kServiceAccountFolder;
};

/// Errors: kNotFound if this is not a pod; those of the files.
[[nodiscard]] Result<Access> in_cluster_access(const Files& files, const PodSurroundings& pod);

}  // namespace berth::kube
