#include "kube/placing/owned_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/json/node_text.h"
#include "kube/devices/claim.h"

namespace berth::kube {
namespace {

/// Names of pools may have slashes, names of objects may not: FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

Write taint_rule(const std::string& driver, const std::string* pool) {
  std::string name = "berth-owned." + driver;
  if (pool != nullptr) name += fmt::format(".{:016x}", hash_of(*pool));
  yaml::Node body = map_node();
  put(put(put(body, "metadata", map_node()), "labels", map_node()), kManagedByLabel,
      text_node(std::string(kFieldManager)));
  yaml::Node& spec = put(body, "spec", map_node());
  yaml::Node& selector = put(spec, "deviceSelector", map_node());
  put(selector, "driver", text_node(driver));
  if (pool != nullptr) put(selector, "pool", text_node(*pool));
  yaml::Node& taint = put(spec, "taint", map_node());
  put(taint, "key", text_node(std::string(kOwnedTaint)));
  put(taint, "effect", text_node("NoSchedule"));
  return {
      .kind = WriteKind::kApply, .resource = kDeviceTaintRules, .name = {"", std::move(name)}, .body = std::move(body)};
}

}  // namespace

bool is_owned(const std::vector<OwnedPools>& own, const PoolName& pool) {
  return std::ranges::any_of(own, [&](const OwnedPools& entry) {
    return entry.driver == pool.driver &&
           (!entry.pools || std::ranges::find(*entry.pools, pool.pool) != entry.pools->end());
  });
}

std::vector<OwnedPools> owned_by_rules(const std::vector<PageItem>& rules) {
  std::map<std::string, OwnedPools> own;
  for (const PageItem& item : rules) {
    const std::string driver(json::text_at(item.object, {"spec", "deviceSelector", "driver"}));
    const std::string pool(json::text_at(item.object, {"spec", "deviceSelector", "pool"}));
    if (json::text_at(item.object, {"metadata", "labels", kManagedByLabel}) != kFieldManager || driver.empty() ||
        json::text_at(item.object, {"spec", "taint", "key"}) != kOwnedTaint) {
      continue;
    }
    OwnedPools& entry = own.try_emplace(driver, OwnedPools{driver, std::vector<std::string>{}}).first->second;
    if (pool.empty()) {
      entry.pools.reset();
    } else if (entry.pools) {
      entry.pools->push_back(pool);
    }
  }
  std::vector<OwnedPools> entries;
  for (auto& [driver, entry] : own) entries.push_back(std::move(entry));
  return entries;
}

std::vector<Write> taint_rules(const std::vector<OwnedPools>& own) {
  std::vector<Write> rules;
  for (const OwnedPools& entry : own) {
    if (!entry.pools) rules.push_back(taint_rule(entry.driver, nullptr));
    for (const std::string& pool : entry.pools.value_or(std::vector<std::string>{}))
      rules.push_back(taint_rule(entry.driver, &pool));
  }
  return rules;
}

}  // namespace berth::kube
