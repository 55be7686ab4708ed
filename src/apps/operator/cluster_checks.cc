#include "apps/operator/cluster_checks.h"

#include <fmt/format.h>

#include <set>

#include "apps/operator/read_list.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "kube/client/status.h"
#include "kube/fleet/planned_gpus.h"
#include "kube/placing/placing.h"
#include "kube/services/custom_resources.h"
#include "kube/world/cluster_world.h"

namespace berth::apps {
namespace {

constexpr int kNotServed = 404;

/// One object at most; whether the server has the resource.
Result<bool> may_read(KubeApi& api, const kube::Resource& resource) {
  const KubeCall call{.target = kube::collection_path(resource) + "?limit=1"};
  const auto answer = api.ask(call);
  if (!answer) return pass_on(answer.error());
  if (answer->status == kNotServed) return false;
  if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
  return true;
}

}  // namespace

Result<void> check_cluster_api(KubeApi& api, const std::string& server) {
  const KubeCall call{.target = "/apis/resource.k8s.io/v1"};
  const auto answer = api.ask(call);
  if (!answer) return pass_on(answer.error());
  if (answer->status == kNotServed) {
    return invalid(fmt::format(
        "{}: wanted a cluster that serves resource.k8s.io/v1 (Kubernetes 1.34 or later), found none", server));
  }
  if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
  for (const kube::Resource& resource : kube::followed_resources()) {
    const auto has = may_read(api, resource);
    if (!has) return pass_on(has.error());
    if (*has) continue;
    return invalid(fmt::format("{}: wanted a cluster that serves {} of {} (Kubernetes 1.37 or later), found none",
                               server, resource.plural, kube::api_version(resource)));
  }
  // Without their definitions there are no services; pods are placed all the same.
  for (const kube::Resource& resource : kube::kServiceResources) {
    if (const auto has = may_read(api, resource); !has) return pass_on(has.error());
  }
  return {};
}

Result<std::string> find_cluster_uid(KubeApi& api, const std::string& server) {
  const KubeCall call{.target = kube::object_path(kube::kNamespaces, {"", "kube-system"})};
  const auto answer = api.ask(call);
  if (!answer) return pass_on(answer.error());
  if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
  const auto object = json::parse_document(answer->body, server);
  if (!object) return pass_on(object.error());
  return std::string(json::text_at(*object, {"metadata", "uid"}));
}

Result<std::vector<device::LocalGpu>> published_fleet(KubeApi& api, const std::vector<kube::OwnedPools>& own) {
  kube::Inventory inventory;
  for (const kube::OwnedPools& entry : own) {
    const auto slices = read_list(api, kube::kResourceSlices, "spec.driver=" + entry.driver);
    if (!slices) return pass_on(slices.error());
    // Slices that cannot be read leave their pool incomplete.
    for (const kube::PageItem& item : *slices)
      static_cast<void>(inventory.put_slice(item.identity.name.name, &item.object));
  }
  std::set<kube::PoolName> pools;
  for (const auto& [name, pool] : inventory.pools()) {
    if (kube::is_owned(own, name)) pools.insert(name);
  }
  return kube::fleet_of(kube::planned_gpus(inventory, pools));
}

}  // namespace berth::apps
