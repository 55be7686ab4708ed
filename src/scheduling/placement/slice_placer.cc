#include "scheduling/placement/slice_placer.h"

#include <algorithm>
#include <bit>

namespace berth::placement {
namespace {

/// The milli of an unpartitionable GPU that count as much as a placement unit, an eighth of a partitionable one.
constexpr int kMilliPerUnit = 125;

}  // namespace

SlicePlacer::SlicePlacer(Policy policy, const Cluster& cluster)
    : policy_(policy),
      cluster_(&cluster),
      boards_of_(first_boards(cluster.problem())),
      board_(static_cast<std::size_t>(boards_of_.back()), cluster.node_count()) {}

NodeScore SlicePlacer::score(const Spot& spot) const {
  if (policy_ == Policy::kFirst) return 0;
  const auto gpu = std::countr_zero(spot.gpus);
  const std::optional<CutIndex> cut = cluster_->node(spot.node).cut;
  if (!cut) return -(cluster_->state(spot.node).free_of[static_cast<std::size_t>(gpu)] / kMilliPerUnit);
  return -free_units(cluster_->problem().cuts[static_cast<std::size_t>(*cut)], cluster_->slices_on(spot.node, gpu));
}

SlicePlacer::Scored SlicePlacer::best_on(NodeIndex node, const Shape& shape, std::size_t alternative) const {
  const NodeState& state = cluster_->state(node);
  if (!has_room_beside_gpus(state, shape)) return {};
  if (shape.slices.empty()) {
    if (std::popcount(state.whole_free) < shape.gpu_count) return {};
    return {.score = 0, .spot = {.node = node, .gpus = first_free_gpus(state, shape.gpu_count)}};
  }
  Scored best;
  for (int gpu = 0; gpu < state.gpu_count; ++gpu) {
    const auto spot = slice_spot(*cluster_, node, gpu, shape, alternative);
    if (!spot) continue;
    const NodeScore found = score(*spot);
    if (found > best.score) best = {.score = found, .spot = *spot};
  }
  return best;
}

std::optional<Spot> SlicePlacer::choose_alternative(ShapeIndex shape_index, std::size_t alternative) {
  const Shape& shape = cluster_->problem().shapes[static_cast<std::size_t>(shape_index)];
  const ShapeIndex board = boards_of_[static_cast<std::size_t>(shape_index)] + alternative;
  const auto node = board_.best(board, [&](NodeIndex at) { return best_on(at, shape, alternative).score; });
  return node ? std::optional(best_on(*node, shape, alternative).spot) : std::nullopt;
}

std::optional<Spot> SlicePlacer::choose(ShapeIndex shape_index) {
  const Shape& shape = cluster_->problem().shapes[static_cast<std::size_t>(shape_index)];
  for (std::size_t alternative = 0; alternative < alternatives_of(shape); ++alternative) {
    if (const auto spot = choose_alternative(shape_index, alternative)) return spot;
  }
  return std::nullopt;
}

}  // namespace berth::placement
