/// What is wrong with a cluster, as far as reads show it: asked before anything is written.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/kube_api.h"
#include "gpu/device/local_gpu.h"
#include "kube/placing/owned_pools.h"

namespace berth::apps {

/// Whether the server has what an operator needs, and lets it read that: one request for each resource. `server` is its
/// URL, for messages. Errors: kInvalidInput for what is missing or refused; those of the port.
[[nodiscard]] Result<void> check_cluster_api(KubeApi& api, const std::string& server);

/// The uid of the namespace kube-system, which names the cluster. Errors as above.
[[nodiscard]] Result<std::string> find_cluster_uid(KubeApi& api, const std::string& server);

/// The GPUs of the owned pools as they are published now, as a folder records them. Errors as above.
[[nodiscard]] Result<std::vector<device::LocalGpu>> published_fleet(KubeApi& api,
                                                                    const std::vector<kube::OwnedPools>& own);

}  // namespace berth::apps
