#include "kube/placing/owned_by_both.h"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::kube {

std::vector<OwnedPools> owned_by_both(const std::vector<OwnedPools>& one, const std::vector<OwnedPools>& other) {
  std::vector<OwnedPools> both;
  for (const OwnedPools& entry : one) {
    const auto found = std::ranges::find(other, entry.driver, &OwnedPools::driver);
    if (found == other.end()) continue;
    OwnedPools common = entry.pools ? entry : *found;
    if (common.pools)
      std::erase_if(*common.pools, [&](const std::string& pool) { return !is_owned({*found}, {entry.driver, pool}); });
    if (!common.pools || !common.pools->empty()) both.push_back(std::move(common));
  }
  return both;
}

}  // namespace berth::kube
