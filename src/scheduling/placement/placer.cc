#include "scheduling/placement/placer.h"

#include <bit>

#include "base/core/ensure.h"
#include "scheduling/placement/rivals.h"

namespace berth::placement {
namespace {

const Shape& shape_of(const Cluster& cluster, ShapeIndex shape) {
  return cluster.problem().shapes[static_cast<std::size_t>(shape)];
}

}  // namespace

std::optional<Spot> RandomPlacer::choose(ShapeIndex shape_index) {
  const Shape& shape = shape_of(*cluster_, shape_index);
  fitting_.clear();
  for (const NodeIndex node : Indices<NodeIndex>(cluster_->node_count())) {
    if (fits(cluster_->state(node), shape)) fitting_.push_back(node);
  }
  if (fitting_.empty()) return std::nullopt;
  const NodeIndex node = fitting_[rng_.below(fitting_.size())];
  const NodeState& state = cluster_->state(node);
  if (!shape.is_shared()) return Spot{.node = node, .gpus = first_free_gpus(state, shape.gpu_count)};
  std::vector<unsigned> gpus;
  for (unsigned gpu = 0; gpu < kNodeGpusMax; ++gpu) {
    if (state.free_of[gpu] >= shape.gpu_milli) gpus.push_back(gpu);
  }
  return Spot{.node = node, .gpus = static_cast<GpuSet>(1U << gpus[rng_.below(gpus.size())])};
}

RulePlacer::RulePlacer(Policy policy, const Cluster& cluster)
    : policy_(policy), cluster_(&cluster), board_(cluster.problem().shapes.size(), cluster.node_count()) {}

NodeScore RulePlacer::score(NodeIndex node, const Shape& shape) const {
  const NodeState& state = cluster_->state(node);
  if (!fits(state, shape)) return kNoFit;
  switch (policy_) {
    case Policy::kDotProduct:
      return dot_product_score(state, shape);
    case Policy::kBestFit:
      return best_fit_score(state, shape);
    case Policy::kPacking:
      return packing_score(state, shape);
    case Policy::kClustering:
      return clustering_score(state, cluster_->pods_by_gpus(node), shape);
    case Policy::kRandom:
    case Policy::kFgd:
    case Policy::kBerth:
    case Policy::kFirst:
    case Policy::kBest:
      break;
  }
  ENSURE(false);
  return kNoFit;
}

std::optional<Spot> RulePlacer::choose(ShapeIndex shape_index) {
  const Shape& shape = shape_of(*cluster_, shape_index);
  const auto node = board_.best(shape_index, [&](NodeIndex at) { return score(at, shape); });
  if (!node) return std::nullopt;
  return Spot{.node = *node, .gpus = usual_gpus(cluster_->state(*node), shape)};
}

FgdPlacer::FgdPlacer(const Cluster& cluster)
    : cluster_(&cluster), scores_(cluster), board_(cluster.problem().shapes.size(), cluster.node_count()) {}

std::optional<Spot> FgdPlacer::choose(ShapeIndex shape_index) {
  const Shape& shape = shape_of(*cluster_, shape_index);
  const auto node = board_.best(shape_index, [&](NodeIndex at) {
    return fits(cluster_->state(at), shape) ? scores_.choice(at, shape).score : kNoFit;
  });
  if (!node) return std::nullopt;
  return Spot{.node = *node, .gpus = scores_.choice(*node, shape).gpus};
}

void FgdPlacer::touch(NodeIndex node) {
  scores_.touch(node);
  board_.touch(node);
}

Placer make_placer(Policy policy, const Cluster& cluster, const Rng& rng) {
  if (policy == Policy::kBerth) return Placer(std::in_place_type<BerthPlacer>, cluster);
  if (cluster.problem().has_cuts()) return SlicePlacer(policy, cluster);
  if (policy == Policy::kRandom) return RandomPlacer(cluster, rng.split("random"));
  if (policy == Policy::kFgd) return FgdPlacer(cluster);
  return RulePlacer(policy, cluster);
}

}  // namespace berth::placement
