#include "domain/values/node.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/ensure.h"

namespace berth {
namespace {

std::uint32_t nodes_in(const FleetEntry& entry, std::int64_t gpus_per_node) {
  return static_cast<std::uint32_t>((entry.count + gpus_per_node - 1) / gpus_per_node);
}

}  // namespace

std::uint32_t node_count(const Scenario& scenario) {
  std::uint32_t count = 0;
  for (const FleetEntry& entry : scenario.fleet) count += nodes_in(entry, scenario.gpus_per_node);
  return count;
}

NodeId node_of(const Scenario& scenario, GpuId gpu) {
  std::int64_t gpu_in_entry = gpu.index;
  std::uint32_t nodes_before = 0;
  for (const FleetEntry& entry : scenario.fleet) {
    if (gpu_in_entry < entry.count) {
      return {nodes_before + static_cast<std::uint32_t>(gpu_in_entry / scenario.gpus_per_node)};
    }
    gpu_in_entry -= entry.count;
    nodes_before += nodes_in(entry, scenario.gpus_per_node);
  }
  ENSURE(false && "a GPU of the fleet");
  return {};
}

GpuRange gpus_of(const Scenario& scenario, NodeId node) {
  std::int64_t node_in_entry = node.index;
  std::int64_t gpus_before = 0;
  for (const FleetEntry& entry : scenario.fleet) {
    const std::int64_t count = nodes_in(entry, scenario.gpus_per_node);
    if (node_in_entry < count) {
      const std::int64_t first_in_entry = node_in_entry * scenario.gpus_per_node;
      return {.first = {static_cast<std::uint32_t>(gpus_before + first_in_entry)},
              .count = static_cast<std::uint32_t>(std::min(scenario.gpus_per_node, entry.count - first_in_entry))};
    }
    node_in_entry -= count;
    gpus_before += entry.count;
  }
  ENSURE(false && "a node of the fleet");
  return {};
}

std::string node_name(NodeId node) { return fmt::format("node-{}", node.index); }

}  // namespace berth
