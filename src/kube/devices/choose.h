/// Which devices a pod gets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kube/devices/claim.h"
#include "kube/devices/inventory.h"
#include "kube/devices/node_fit.h"

namespace berth::kube {

/// Foreign rules that taint devices; empty fields match all.
struct DeviceTaintRuleFacts {
  std::string driver = {};
  std::string pool = {};
  std::string device = {};
  DeviceTaint taint = {};
  friend bool operator==(const DeviceTaintRuleFacts&, const DeviceTaintRuleFacts&) = default;
};

/// Everything that a choice looks at. Borrowed.
struct Surroundings {
  const Inventory& inventory;
  const std::set<PoolName>& owned;  ///< pools that may be used
  const std::map<std::string, DeviceClass>& classes;
  const std::map<std::string, NodeFacts>& nodes;
  const std::map<std::string, NodeRoom>& used;  ///< by node, what pods take
  const std::map<std::string, DeviceTaintRuleFacts>& rules;
};

struct Chosen {
  std::string node;
  std::vector<std::vector<AllocatedDevice>> devices;  ///< by claim
};
/// Why there are no devices, in words.
struct NoChoice {
  std::string reason;
};
using Choice = std::variant<Chosen, NoChoice>;

class Chooser {
 public:
  /// Devices for all claims on one node. `node`: the one that other claims of the pod fix; empty: any. `avoided`:
  /// nodes that are not to be used now. Requires: the claims are understood and have no allocation.
  [[nodiscard]] Choice choose(const PodFacts& pod, std::span<const Claim* const> claims, const Surroundings& around,
                              const std::string& node = {}, const std::set<std::string>& avoided = {});

  /// Whether some device of an owned pool, free or not, is selected by a request of the claim. What an option selects
  /// is remembered until `forget_owned` or `forget_classes`.
  [[nodiscard]] bool is_of_owned(const Claim& claim, const Surroundings& around);

  /// The devices of a pool that an option selects, ascending: free or not, tainted or not. Valid until the next call.
  [[nodiscard]] const std::vector<std::size_t>& selected(const RequestOption& option, const PoolState& pool,
                                                         const Surroundings& around) {
    return matched(option, pool, around);
  }

  /// A class came, changed or went.
  void forget_classes() {
    matched_.clear();
    owned_answers_.clear();
  }
  /// Other pools are owned, or pools came, changed or went.
  void forget_owned() { owned_answers_.clear(); }

 private:
  struct Matched {
    std::int64_t stamp = 0;
    std::vector<std::size_t> devices;
  };
  [[nodiscard]] const std::vector<std::size_t>& matched(const RequestOption& option, const PoolState& pool,
                                                        const Surroundings& around);

  friend class NodeSearch;
  [[nodiscard]] bool selects_owned(const RequestOption& option, const Surroundings& around);

  std::map<std::string, std::map<PoolName, Matched>> matched_;
  std::map<std::string, bool> owned_answers_;  ///< by option: whether it selects some device of an owned pool
};

}  // namespace berth::kube
