#include "apps/operator/run_why.h"

#include <memory>
#include <utility>
#include <vector>

#include "apps/operator/read_list.h"
#include "edges/kube/kube_client.h"
#include "kube/placing/explain.h"

namespace berth::apps {
Result<std::string> explain_pod_of_cluster(const WhyRequest& request, const Files& files) {
  edges::KubeClient client(std::make_shared<edges::KubeIdentity>(request.access, files),
                           std::make_shared<edges::SharedPace>(),
                           {.patience = Micros::seconds(10), .user_agent = "berth-why"});
  const auto rules = read_list(client, kube::kDeviceTaintRules);
  if (!rules) return pass_on(rules.error());
  kube::Placing placing({.own = kube::owned_by_rules(*rules)});
  for (const kube::Resource& resource : kube::followed_resources()) {
    auto items = read_list(client, resource);
    if (!items) return pass_on(items.error());
    for (kube::PageItem& item : *items)
      placing.take(resource.plural, {kube::ChangeKind::kAdded, std::move(item.identity), std::move(item.object)});
    placing.note_listed(resource.plural);
  }
  const auto actions = placing.decide(edges::steady_now(), edges::wall_text());
  return kube::explain_pod(placing, actions, request.pod);
}

}  // namespace berth::apps
