/// The DeviceTaintRules that keep other allocators away from owned pools, in the cluster.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/kube_api.h"
#include "kube/placing/owned_pools.h"

namespace berth::apps {

struct OwnedRulesOptions {
  std::vector<kube::OwnedPools> own;
  bool is_dry_run = false;                                ///< then writes are only reported
  std::function<void(const std::string& line)> log = {};  ///< called for each write; may be empty
};

/// Applies the rule of each entry, and removes those of entries that are gone. Returns whether a rule is new: then
/// allocators that have not seen it yet may still use what it taints. Errors: kInvalidInput where the server refuses;
/// those of the port.
[[nodiscard]] Result<bool> write_owned_rules(KubeApi& api, const OwnedRulesOptions& options);

}  // namespace berth::apps
