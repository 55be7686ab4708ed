/// `berth why pod`: what a pod of a cluster waits for, decided anew from what stands. Nothing is written.
#pragma once

#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "kube/access/access.h"
#include "kube/client/resource.h"

namespace berth::apps {

struct WhyRequest {
  kube::Access access;
  kube::ObjectName pod;
};

/// Reads the cluster, with the pools that its rules of Berth name. Errors: kNotFound, no such pod; those of the server.
[[nodiscard]] Result<std::string> explain_pod_of_cluster(const WhyRequest& request, const Files& files);

}  // namespace berth::apps
