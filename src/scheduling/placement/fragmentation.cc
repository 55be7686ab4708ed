#include "scheduling/placement/fragmentation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace berth::placement {
namespace {

/// The node with a pod on these GPUs, with the state on which fragmentation depends: `whole_free` is not updated.
NodeState state_with(NodeState state, const Shape& shape, GpuSet gpus) {
  state.cpu_free -= shape.cpu_milli;
  state.memory_free -= shape.memory_mib;
  for (GpuSet rest = gpus; rest != 0; rest = static_cast<GpuSet>(rest & (rest - 1))) {
    std::int16_t& free = state.free_of[static_cast<std::size_t>(std::countr_zero(rest))];
    free = static_cast<std::int16_t>(free - shape.gpu_milli);
    state.gpu_free -= shape.gpu_milli;
  }
  return state;
}

}  // namespace

Fragmentation::Fragmentation(const Problem& problem) : rows_(problem.typical_rows()) {
  for (const TypicalPods& typical : problem.typical) {
    if (std::ranges::find(shares_, typical.gpu_milli) == shares_.end()) shares_.push_back(typical.gpu_milli);
  }
  by_share_.resize(shares_.size());
  for (std::size_t model = 0; model < problem.models.size(); ++model) {
    std::vector<Group>& groups = groups_of_model_.emplace_back();
    for (const TypicalPods& typical : problem.typical) {
      if (typical.gpu_count == 0 || !typical.fits_model[model]) continue;
      const auto share = std::ranges::find(shares_, typical.gpu_milli) - shares_.begin();
      groups.push_back({.cpu_milli = typical.cpu_milli,
                        .gpu_count = typical.gpu_count,
                        .share = static_cast<std::size_t>(share),
                        .count = typical.count});
    }
  }
}

std::int64_t Fragmentation::of(const NodeState& state) {
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    int enough = 0;
    std::int32_t rest = 0;
    for (const std::int16_t free : state.free_of) {
      const bool is_enough = free >= shares_[i];
      enough += is_enough ? 1 : 0;
      rest += is_enough ? 0 : free;
    }
    by_share_[i] = {.enough = enough, .rest = rest};
  }
  std::int64_t usable = 0;
  for (const Group& group : groups_of_model_[static_cast<std::size_t>(state.model)]) {
    if (group.cpu_milli > state.cpu_free || by_share_[group.share].enough < group.gpu_count) continue;
    usable += group.count * (state.gpu_free - by_share_[group.share].rest);
  }
  return rows_ * state.gpu_free - usable;
}

FgdScores::FgdScores(const Cluster& cluster)
    : cluster_(&cluster),
      fragmentation_(cluster.problem()),
      of_node_(static_cast<std::size_t>(cluster.node_count()), kUnknown) {}

FgdScores::Choice FgdScores::choice(NodeIndex node, const Shape& shape) {
  const NodeState& state = cluster_->state(node);
  std::int64_t& before = of_node_[static_cast<std::size_t>(node)];
  if (before == kUnknown) before = fragmentation_.of(state);
  if (!shape.is_shared()) {
    const GpuSet gpus = first_free_gpus(state, shape.gpu_count);
    return {.score = score(before, state, shape, gpus), .gpus = gpus};
  }
  Choice best;
  for (std::size_t gpu = 0; gpu < kNodeGpusMax; ++gpu) {
    const std::int16_t free = state.free_of[gpu];
    // GPUs with equal free milli have equal scores: only the first is scored.
    const auto end = state.free_of.begin() + static_cast<std::ptrdiff_t>(gpu);
    if (free < shape.gpu_milli || std::find(state.free_of.begin(), end, free) != end) continue;
    const auto gpus = static_cast<GpuSet>(1U << gpu);
    const NodeScore found = score(before, state, shape, gpus);
    if (found > best.score) best = {.score = found, .gpus = gpus};
  }
  return best;
}

NodeScore FgdScores::score(std::int64_t before, const NodeState& state, const Shape& shape, GpuSet gpus) {
  const std::int64_t after = fragmentation_.of(state_with(state, shape, gpus));
  const double gain = static_cast<double>(before - after) / static_cast<double>(kGpuMilli * fragmentation_.rows());
  return static_cast<NodeScore>(100.0 / (1.0 + std::exp(-gain)));
}

}  // namespace berth::placement
