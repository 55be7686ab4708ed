#include "kube/client/page.h"

#include <utility>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"

namespace berth::kube {
namespace {

yaml::List taken_items(yaml::Node& list) {
  for (yaml::Entry& entry : std::get<yaml::Map>(list.value)) {
    auto* items = std::get_if<yaml::List>(&entry.value.value);
    if (entry.key == "items" && items != nullptr) return std::move(*items);
  }
  return {};
}

}  // namespace

Result<Page> read_page(std::string_view text) {
  auto list = json::parse_document(text, "list", json::kNoLimits);
  if (!list) return pass_on(list.error());
  Page page{.items = {},
            .version = std::string(json::text_at(*list, {"metadata", "resourceVersion"})),
            .continuation = std::string(json::text_at(*list, {"metadata", "continue"}))};
  if (page.version.empty()) return fail(ErrorCode::kMalformed, "list: wanted metadata.resourceVersion, found none");
  for (yaml::Node& item : taken_items(*list)) {
    auto identity = identity_of(item);
    if (!identity) return pass_on(identity.error());
    page.items.push_back({*std::move(identity), std::move(item)});
  }
  return page;
}

}  // namespace berth::kube
