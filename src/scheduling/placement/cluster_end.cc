#include "scheduling/placement/cluster_end.h"

#include <bit>
#include <optional>
#include <utility>

#include "scheduling/placement/slices.h"

namespace berth::placement {
namespace {

/// The slices on a GPU, also counted by name of their profile.
std::vector<UnitSpan> slices_of(const Cut& cut, mig::SiteSet sites, std::map<std::string, std::int64_t>& counts) {
  std::vector<UnitSpan> slices;
  slices.reserve(static_cast<std::size_t>(std::popcount(sites)));
  for (mig::SiteSet rest = sites; rest != 0; rest &= rest - 1) {
    const mig::SiteKind& kind = cut.map.kinds[static_cast<std::size_t>(kind_of(cut, rest))];
    ++counts[profile_name(cut.model, kind.profile)];
    slices.push_back(
        {.start = cut.map.sites[static_cast<std::size_t>(std::countr_zero(rest))].start, .length = kind.length});
  }
  return slices;
}

NodeEnd node_end(const Cluster& cluster, NodeIndex node, std::map<std::string, std::int64_t>& slice_counts) {
  const NodeState& state = cluster.state(node);
  const std::optional<CutIndex> index = cluster.node(node).cut;
  const Cut* cut = index ? &cluster.problem().cuts[static_cast<std::size_t>(*index)] : nullptr;
  NodeEnd found{
      .cpu_free = state.cpu_free, .memory_free = state.memory_free, .units = cut == nullptr ? 0 : cut->model.units};
  found.gpus.reserve(static_cast<std::size_t>(state.gpu_count));
  for (int gpu = 0; gpu < state.gpu_count; ++gpu) {
    GpuEnd& made = found.gpus.emplace_back();
    made.used_milli = kGpuMilli - idle_milli_of(cluster, node, gpu);
    if (cut != nullptr) made.slices = slices_of(*cut, cluster.slices_on(node, gpu), slice_counts);
  }
  return found;
}

}  // namespace

std::size_t use_level(int used_milli) {
  if (used_milli == 0) return 0;
  if (used_milli >= kGpuMilli) return kUseLevels - 1;
  return kUseLevels - 2 - static_cast<std::size_t>(rest_size(kGpuMilli - used_milli));
}

ClusterEnd cluster_end(const Cluster& cluster, const UsableByNode& usable) {
  const Problem& problem = cluster.problem();
  const bool keeps_nodes = problem.gpu_count <= kEndGpusMax;
  ClusterEnd end;
  end.by_model.resize(problem.models.size());
  if (keeps_nodes) end.nodes.resize(problem.nodes.size());
  for (const NodeIndex node : Indices<NodeIndex>(cluster.node_count())) {
    NodeEnd found = node_end(cluster, node, end.slices);
    found.is_useful = usable[static_cast<std::size_t>(node)] > 0;
    GpusByUse& by_use = end.by_model[static_cast<std::size_t>(cluster.state(node).model)];
    for (const GpuEnd& gpu : found.gpus) ++by_use[use_level(gpu.used_milli)];
    if (keeps_nodes) end.nodes[static_cast<std::size_t>(&cluster.node(node) - problem.nodes.data())] = std::move(found);
  }
  return end;
}

}  // namespace berth::placement
