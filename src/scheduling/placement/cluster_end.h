/// The cluster at the end of a run, for a picture: by node of the list, not in the order of the run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduling/placement/cluster.h"
#include "scheduling/placement/idle_capacity.h"

namespace berth::placement {

/// A slice, in placement units.
struct UnitSpan {
  int start = 0;
  int length = 0;
};

struct GpuEnd {
  int used_milli = 0;                 ///< with slices: their share of the units, rounded up to a milli
  std::vector<UnitSpan> slices = {};  ///< by profile, then start
};

struct NodeEnd {
  std::int64_t cpu_free = 0;     ///< milli
  std::int64_t memory_free = 0;  ///< MiB
  int units = 0;                 ///< placement units of a GPU; 0: it cannot be partitioned
  bool is_useful = false;        ///< some row in question could use some of its idle capacity
  std::vector<GpuEnd> gpus = {};
};

/// Levels of use of a GPU: nothing, up to 500, 750, 900, 999 milli, all. The levels between correspond to the sizes of
/// rests.
inline constexpr std::size_t kUseLevels = 6;
/// The level, from 0, of a GPU with this many milli in use.
[[nodiscard]] std::size_t use_level(int used_milli);

/// GPUs of one model by level of use.
using GpusByUse = std::array<std::int64_t, kUseLevels>;

struct ClusterEnd {
  std::vector<NodeEnd> nodes = {};                  ///< by node of the problem; empty if there are too many GPUs
  std::vector<GpusByUse> by_model = {};             ///< by model of the problem
  std::map<std::string, std::int64_t> slices = {};  ///< by name of their profile
};

/// The most GPUs for which nodes are kept one by one.
inline constexpr std::int64_t kEndGpusMax = 8'000;
/// `usable`: by node, in the order of the cluster.
[[nodiscard]] ClusterEnd cluster_end(const Cluster& cluster, const UsableByNode& usable);

}  // namespace berth::placement
