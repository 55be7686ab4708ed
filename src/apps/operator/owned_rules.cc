#include "apps/operator/owned_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/node_text.h"
#include "kube/client/page.h"
#include "kube/client/status.h"
#include "kube/client/write.h"

namespace berth::apps {
namespace {

Result<void> write_rule(KubeApi& api, const OwnedRulesOptions& options, const kube::Write& write,
                        const std::string& text) {
  const auto log = [&](const std::string& line) {
    if (options.log) options.log(line);
  };
  if (options.is_dry_run) {
    log("would: " + text);
    return {};
  }
  const auto outcome = kube::write_carefully(api, write);
  if (!outcome) return pass_on(outcome.error());
  if (outcome->fate != kube::WriteFate::kDone && outcome->fate != kube::WriteFate::kUnknown)
    return invalid(outcome->message);
  log(text);
  return {};
}

Result<kube::Page> standing_rules(KubeApi& api) {
  const std::string label = fmt::format("{}={}", kube::kManagedByLabel, kube::kFieldManager);
  const KubeCall call{.target = kube::collection_path(kube::kDeviceTaintRules) +
                                "?labelSelector=" + kube::percent_encoded(label)};
  const auto answer = api.ask(call);
  if (!answer) return pass_on(answer.error());
  if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
  return kube::read_page(answer->body);
}

}  // namespace

Result<bool> write_owned_rules(KubeApi& api, const OwnedRulesOptions& options) {
  const auto standing = standing_rules(api);
  if (!standing) return pass_on(standing.error());
  bool is_any_new = false;
  const auto wanted = kube::taint_rules(options.own);
  for (const kube::Write& rule : wanted) {
    const bool stands = std::ranges::any_of(
        standing->items, [&](const kube::PageItem& item) { return item.identity.name == rule.name; });
    is_any_new = is_any_new || !stands;
    const auto done = write_rule(api, options, rule, "keeps other allocators away by rule " + rule.name.name);
    if (!done) return pass_on(done.error());
  }
  for (const kube::PageItem& item : standing->items) {
    const bool is_wanted =
        std::ranges::any_of(wanted, [&](const kube::Write& rule) { return rule.name == item.identity.name; });
    const std::string_view managed = json::text_at(item.object, {"metadata", "labels", kube::kManagedByLabel});
    if (is_wanted || managed != kube::kFieldManager) continue;
    const kube::Write removal{.kind = kube::WriteKind::kDelete,
                              .resource = kube::kDeviceTaintRules,
                              .name = item.identity.name,
                              .uid = item.identity.uid};
    if (const auto done = write_rule(api, options, removal, "removes rule " + removal.name.name); !done)
      return pass_on(done.error());
  }
  return is_any_new;
}

}  // namespace berth::apps
