/// Writes that a world of a cluster refuses: its API server owns specs and cordons.
#pragma once

#include <optional>

#include "surface/api/api_context.h"
#include "surface/api/api_error.h"
#include "surface/api/router.h"

namespace berth::api {

/// 409 `owned_by_cluster` for writes of tenants and services, and for cordon, drain and uncordon, with the kubectl
/// command to use; nothing for other requests and worlds.
[[nodiscard]] std::optional<ApiError> owned_by_cluster(const ApiContext& context, const HttpRequest& request,
                                                       const Routed& routed);

}  // namespace berth::api
