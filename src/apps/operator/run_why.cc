#include "apps/operator/run_why.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "edges/kube/kube_client.h"
#include "kube/client/page.h"
#include "kube/client/status.h"
#include "kube/placing/explain.h"

namespace berth::apps {
namespace {

constexpr int kPageItems = 500;
constexpr int kExpired = 410;
constexpr int kListsMax = 3;  // lists that expire between two pages are read again

Result<std::vector<kube::PageItem>> read_list(KubeApi& api, const kube::Resource& resource) {
  const std::string path = kube::collection_path(resource);
  std::vector<kube::PageItem> items;
  std::string continuation;
  for (int list_count = 1;;) {
    KubeCall call{.target = fmt::format("{}?limit={}", path, kPageItems)};
    if (!continuation.empty()) call.target += "&continue=" + kube::percent_encoded(continuation);
    const auto answer = api.ask(call);
    if (!answer) return pass_on(answer.error());
    if (answer->status == kExpired && list_count < kListsMax) {
      ++list_count;
      items.clear();
      continuation.clear();
      continue;
    }
    if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
    auto page = kube::read_page(answer->body);
    if (!page) return pass_on(page.error());
    for (kube::PageItem& item : page->items) items.push_back(std::move(item));
    continuation = page->continuation;
    if (continuation.empty()) return items;
  }
}

}  // namespace

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
