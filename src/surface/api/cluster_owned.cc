#include "surface/api/cluster_owned.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "domain/values/node.h"
#include "live/session/object_names.h"

namespace berth::api {
namespace {

/// The node of the cluster on which a GPU is; "NODE" if it is not there.
std::string cluster_node_of(const ApiContext& context, GpuId gpu) {
  return context.format.devices.device(gpu).node.value_or("NODE");
}

std::string parameter(const Routed& routed, std::string_view name) {
  const auto found = routed.parameters.find(name);
  return found == routed.parameters.end() ? std::string() : found->second;
}

std::string command_for_objects(const HttpRequest& request, const Routed& routed) {
  const std::string tenant = parameter(routed, "t");
  const std::string service = parameter(routed, "name");
  const bool is_deletion = request.method == "DELETE";
  if (service.empty()) return is_deletion ? "kubectl delete tenant " + tenant : "kubectl apply -f FILE";
  return is_deletion ? fmt::format("kubectl delete gpuservice {} -n {}", service, tenant)
                     : fmt::format("kubectl apply -n {} -f FILE", tenant);
}

/// What does the same as "cordon", "uncordon" or "drain" of a GPU or node here.
std::string command_for_nodes(const ApiContext& context, const Routed& routed, std::string_view verb) {
  const std::string id = parameter(routed, "id");
  std::string node = "NODE";
  if (const auto gpu = live::find_gpu(context.format.fleet, id)) node = cluster_node_of(context, *gpu);
  if (const auto found = live::find_node(context.format.fleet, id))
    node = cluster_node_of(context, gpus_of(context.format.fleet, *found).first);
  return fmt::format("kubectl {} {}", verb, node);
}

}  // namespace

std::optional<ApiError> owned_by_cluster(const ApiContext& context, const HttpRequest& request, const Routed& routed) {
  if (context.format.devices.world != "kubernetes") return std::nullopt;
  const std::string_view path = routed.route->path;
  const auto refused = [](std::string_view what, const std::string& command) {
    return ApiError{.status = 409,
                    .code = "owned_by_cluster",
                    .message = fmt::format("{} are kept by the cluster's API server: use {}", what, command)};
  };
  const bool is_object = path.starts_with("/v1/tenants") && (request.method == "PUT" || request.method == "DELETE");
  if (is_object) return refused("tenants and services", command_for_objects(request, routed));
  for (const std::string_view verb : {"cordon", "uncordon", "drain"}) {
    const bool is_it = request.method == "POST" && path.ends_with(fmt::format("/{{id}}/{}", verb));
    if (!is_it) continue;
    const std::string device =
        path.starts_with("/v1/gpus") ? "; for one GPU: a DeviceTaintRule with NoSchedule or NoExecute" : "";
    return refused("cordons and drains", command_for_nodes(context, routed, verb) + device);
  }
  return std::nullopt;
}

}  // namespace berth::api
