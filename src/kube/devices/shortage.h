/// What a pod is short of on the nodes, counted and put into words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/devices/device.h"
#include "kube/devices/inventory.h"
#include "kube/devices/node_fit.h"

namespace berth::kube {

/// Why one node will not do. Amounts only where `has_amounts`, in the unit of the text.
struct Shortage {
  std::string what;  ///< "units", "node CPU", "node selector", "device taint"
  bool has_amounts = false;
  std::int64_t wanted = 0;
  std::int64_t free = 0;
};

/// The reasons of many nodes: each with the number of its nodes, the least that is wanted and the most that is free.
class Shortages {
 public:
  void add(const Shortage& shortage);
  [[nodiscard]] bool is_empty() const { return sums_.empty(); }
  /// "node CPU: 2 nodes (4000 m wanted, at most 2500 m free), units: 1 node (4 wanted on one GPU, at most 3 free)".
  [[nodiscard]] std::string text() const;

 private:
  struct Sum {
    int node_count = 0;
    bool has_amounts = false;
    std::int64_t wanted = 0;
    std::int64_t free = 0;
  };
  std::map<std::string, Sum> sums_;
};

/// Why the node does not suit the pod apart from devices: `unfit`, with amounts.
[[nodiscard]] std::optional<Shortage> node_shortage(const PodFacts& pod, const NodeFacts& node, const NodeRoom& used);

/// Why none of these devices of a pool, which all suit a request, is free. Units are the memory slices of a GPU, where
/// its counters have that name; else the counter that is short is named.
[[nodiscard]] Shortage unit_shortage(const PoolState& pool, const std::vector<std::size_t>& devices);

}  // namespace berth::kube
