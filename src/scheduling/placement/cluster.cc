#include "scheduling/placement/cluster.h"

#include <bit>

#include "base/core/ensure.h"

namespace berth::placement {
namespace {

NodeState empty_state(const Node& node) {
  NodeState state;
  state.cpu_free = node.cpu_milli;
  state.memory_free = node.memory_mib;
  state.gpu_free = node.gpu_count * kGpuMilli;
  state.gpu_count = static_cast<std::int16_t>(node.gpu_count);
  state.model = node.model;
  for (int gpu = 0; gpu < node.gpu_count; ++gpu) {
    state.free_of[static_cast<std::size_t>(gpu)] = kGpuMilli;
    state.whole_free = static_cast<GpuSet>(state.whole_free | (1U << static_cast<unsigned>(gpu)));
  }
  return state;
}

/// The first GPU of a set, as a set.
GpuSet lowest_of(GpuSet set) { return static_cast<GpuSet>(set & -set); }

}  // namespace

Cluster::Cluster(const Problem& problem, std::vector<NodeIndex> order) : problem_(&problem), order_(std::move(order)) {
  states_.reserve(order_.size());
  for (const NodeIndex node : order_) states_.push_back(empty_state(problem.nodes[static_cast<std::size_t>(node)]));
  if (problem.has_cuts()) slices_.resize(order_.size() * kNodeGpusMax);
  pods_by_gpus_.resize(order_.size());
}

void Cluster::place(const Spot& spot, const Shape& shape) { change(spot, shape, 1); }

void Cluster::change(const Spot& spot, const Shape& shape, int sign) {
  NodeState& state = states_[static_cast<std::size_t>(spot.node)];
  state.cpu_free -= sign * shape.cpu_milli;
  state.memory_free -= sign * shape.memory_mib;
  ENSURE(state.cpu_free >= 0 && state.memory_free >= 0);
  if (shape.gpu_count == 0) return;
  used_milli_ += sign * shape.demand_milli();
  pods_by_gpus_[static_cast<std::size_t>(spot.node)]
               [shape.is_shared() ? 0 : static_cast<std::size_t>(shape.gpu_count)] += sign;
  if (spot.slices != 0) return change_slices(spot, sign);
  used_unit_milli_ += sign * shape.demand_milli();
  for (GpuSet rest = spot.gpus; rest != 0; rest = static_cast<GpuSet>(rest & (rest - 1))) {
    std::int16_t& free = state.free_of[static_cast<std::size_t>(std::countr_zero(rest))];
    free = static_cast<std::int16_t>(free - sign * shape.gpu_milli);
    ENSURE(free >= 0 && free <= kGpuMilli);
    const GpuSet bit = lowest_of(rest);
    state.whole_free = static_cast<GpuSet>(free == kGpuMilli ? state.whole_free | bit : state.whole_free & ~bit);
  }
  state.gpu_free -= static_cast<std::int32_t>(sign * shape.demand_milli());
}

void Cluster::change_slices(const Spot& spot, int sign) {
  NodeState& state = states_[static_cast<std::size_t>(spot.node)];
  const auto gpu = static_cast<std::size_t>(std::countr_zero(spot.gpus));
  mig::SiteSet& standing = slices_[static_cast<std::size_t>(spot.node) * kNodeGpusMax + gpu];
  ENSURE(sign > 0 ? (standing & spot.slices) == 0 : (standing & spot.slices) == spot.slices);
  standing ^= spot.slices;
  const Cut& cut = problem_->cuts[static_cast<std::size_t>(*node(spot.node).cut)];
  int units = 0;
  for (mig::SiteSet rest = spot.slices; rest != 0; rest &= rest - 1) {
    const mig::Site& site = cut.map.sites[static_cast<std::size_t>(std::countr_zero(rest))];
    units += cut.map.kinds[static_cast<std::size_t>(site.kind)].length;
  }
  used_unit_milli_ += std::int64_t{sign} * units * kGpuMilli / cut.model.units;
  const GpuSet bit = spot.gpus;
  state.whole_free = static_cast<GpuSet>(standing == 0 ? state.whole_free | bit : state.whole_free & ~bit);
}

bool fits(const NodeState& state, const Shape& shape) {
  if (shape.names_profile || !has_room_beside_gpus(state, shape)) return false;
  if (!shape.is_shared()) return std::popcount(state.whole_free) >= shape.gpu_count;
  for (const std::int16_t free : state.free_of) {
    if (free >= shape.gpu_milli) return true;
  }
  return false;
}

GpuSet first_free_gpus(const NodeState& state, int gpu_count) {
  ENSURE(gpu_count <= std::popcount(state.whole_free));
  GpuSet taken = 0;
  GpuSet rest = state.whole_free;
  for (int i = 0; i < gpu_count; ++i) {
    taken = static_cast<GpuSet>(taken | lowest_of(rest));
    rest = static_cast<GpuSet>(rest & (rest - 1));
  }
  return taken;
}

GpuSet tightest_gpu(const NodeState& state, int gpu_milli) {
  std::size_t best = kNodeGpusMax;
  for (std::size_t gpu = 0; gpu < kNodeGpusMax; ++gpu) {
    if (state.free_of[gpu] < gpu_milli) continue;
    if (best == kNodeGpusMax || state.free_of[gpu] < state.free_of[best]) best = gpu;
  }
  return best == kNodeGpusMax ? GpuSet{0} : static_cast<GpuSet>(1U << best);
}

GpuSet usual_gpus(const NodeState& state, const Shape& shape) {
  return shape.is_shared() ? tightest_gpu(state, shape.gpu_milli) : first_free_gpus(state, shape.gpu_count);
}

}  // namespace berth::placement
