/// The GPUs of known models as the nodes of a placement problem.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/mig/site.h"
#include "kube/devices/choose.h"
#include "kube/fleet/planned_gpus.h"
#include "scheduling/placement/problem.h"

namespace berth::kube {

/// A GPU of the table: which device of its pool is at which site.
struct TableGpu {
  PoolName pool;
  const PoolState* state = nullptr;                        ///< of the inventory, until a pool is put together again
  std::vector<std::optional<std::size_t>> device_of = {};  ///< by site
  std::optional<std::size_t> whole = std::nullopt;         ///< the device that is all of the GPU
};

/// A node of the problem: GPUs of one model on one node of the cluster, at most kNodeGpusMax.
struct TableNode {
  std::string name;
  placement::CutIndex cut;
  std::vector<TableGpu> gpus = {};
};

struct GpuTable {
  std::vector<placement::Cut> cuts = {};
  std::vector<TableNode> nodes = {};
};

/// Pools of the surroundings that are owned, and in which no device has a taint that keeps pods away.
[[nodiscard]] GpuTable make_gpu_table(const Surroundings& around);

/// What claims hold of a GPU: sites, or all of it where that is not a legal set of sites.
struct HeldSites {
  mig::SiteSet sites = 0;
  bool is_blocked = false;
  friend bool operator==(const HeldSites&, const HeldSites&) = default;
};
[[nodiscard]] HeldSites held_sites(const TableGpu& gpu, const mig::SiteMap& map);

}  // namespace berth::kube
