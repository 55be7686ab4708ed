/// A list of the API server, read as a whole.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/kube_api.h"
#include "kube/client/page.h"
#include "kube/client/resource.h"

namespace berth::apps {

/// All objects of a resource, in every namespace. `field_selector` may be empty ("spec.driver=gpu.nvidia.com"). A list
/// that expires between two pages is read again. Errors: those of the port; kNotFound where the server does not have
/// the resource; kInvalidInput where it refuses.
[[nodiscard]] Result<std::vector<kube::PageItem>> read_list(KubeApi& api, const kube::Resource& resource,
                                                            const std::string& field_selector = "");

}  // namespace berth::apps
