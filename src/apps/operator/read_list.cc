#include "apps/operator/read_list.h"

#include <fmt/format.h>

#include <utility>

#include "kube/client/status.h"

namespace berth::apps {
namespace {

constexpr int kPageItems = 500;
constexpr int kListExpired = 410;
constexpr int kListsMax = 3;  // lists that expire between two pages are read again

}  // namespace

Result<std::vector<kube::PageItem>> read_list(KubeApi& api, const kube::Resource& resource,
                                              const std::string& field_selector) {
  std::string path = fmt::format("{}?limit={}", kube::collection_path(resource), kPageItems);
  if (!field_selector.empty()) path += "&fieldSelector=" + kube::percent_encoded(field_selector);
  std::vector<kube::PageItem> items;
  std::string continuation;
  for (int list_count = 1;;) {
    KubeCall call{.target = path};
    if (!continuation.empty()) call.target += "&continue=" + kube::percent_encoded(continuation);
    const auto answer = api.ask(call);
    if (!answer) return pass_on(answer.error());
    if (answer->status == kListExpired && list_count < kListsMax) {
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

}  // namespace berth::apps
