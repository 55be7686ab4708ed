/// Nodes: the machines that GPUs are in, computed from the scenario.
///
/// Every `gpus_per_node` GPUs of one fleet entry, in the order of their numbers, are a node; the last node of an entry
/// may have fewer. Nodes never mix entries, and are numbered from 0 through the entries in the order of the file.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "domain/values/scenario.h"
#include "domain/values/slice.h"

namespace berth {

/// A node: its number.
struct NodeId {
  std::uint32_t index = 0;
  friend auto operator<=>(NodeId, NodeId) = default;
};

/// GPUs with consecutive numbers: first, first + 1, ..
struct GpuRange {
  GpuId first;
  std::uint32_t count = 0;
  friend bool operator==(const GpuRange&, const GpuRange&) = default;
};

// Each of these is O(entries of the fleet).

[[nodiscard]] std::uint32_t node_count(const Scenario& scenario);
/// Requires: gpu.index < scenario.gpu_count().
[[nodiscard]] NodeId node_of(const Scenario& scenario, GpuId gpu);
/// The GPUs of a node, at least one. Requires: node.index < node_count(scenario).
[[nodiscard]] GpuRange gpus_of(const Scenario& scenario, NodeId node);

/// "node-0", the name under which users see a node.
[[nodiscard]] std::string node_name(NodeId node);

}  // namespace berth
