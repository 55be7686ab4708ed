#include "scheduling/placement/berth_placer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "scheduling/placement/slices.h"

namespace berth::placement {
namespace {

/// Arrivals per GPU after which the weights are checked again.
constexpr double kArrivalsPerLook = 0.05;
/// They are replaced if at least this share of their sum has shifted, because every node must then be scored again.
constexpr double kShiftMin = 0.01;

}  // namespace

BerthPlacer::BerthPlacer(const Cluster& cluster)
    : cluster_(&cluster),
      outlooks_(cluster.problem()),
      potential_(cluster.problem(), outlooks_),
      boards_of_(first_boards(cluster.problem())),
      board_(static_cast<std::size_t>(boards_of_.back()), cluster.node_count()) {
  for (const NodeIndex node : Indices<NodeIndex>(cluster.node_count())) keys_.push_back(key_of(node));
  class_of_.assign(keys_.size(), -1);
  potentials_.resize(keys_.size());
}

PotentialKey BerthPlacer::key_of(NodeIndex node) {
  const NodeState& state = cluster_->state(node);
  PotentialKey key{.cpu_free = static_cast<std::int32_t>(state.cpu_free),
                   .memory_free = static_cast<std::int32_t>(state.memory_free),
                   .gpu_count = state.gpu_count,
                   .model = static_cast<int>(state.model)};
  for (int gpu = 0; gpu < state.gpu_count; ++gpu) {
    key.gpus[static_cast<std::size_t>(gpu)] = outlooks_.state_of(*cluster_, node, gpu);
  }
  std::sort(key.gpus.begin(), key.gpus.begin() + state.gpu_count);
  return key;
}

void BerthPlacer::touch(NodeIndex node) {
  class_of_[static_cast<std::size_t>(node)] = -1;
  keys_[static_cast<std::size_t>(node)] = key_of(node);
  potentials_[static_cast<std::size_t>(node)].reset();
  board_.touch(node);
}

void BerthPlacer::classify() {
  std::unordered_map<PotentialKey, std::int32_t, PotentialKeyHash> known;
  for (std::size_t node = 0; node < keys_.size(); ++node) {
    class_of_[node] = known.try_emplace(keys_[node], static_cast<std::int32_t>(known.size())).first->second;
  }
  class_scores_.resize(known.size());
}

NodeScore BerthPlacer::score_by_class(NodeIndex node, const Shape& shape, std::size_t alternative) {
  const std::int32_t alike = class_of_[static_cast<std::size_t>(node)];
  if (alike < 0) return best_on(node, shape, alternative).score;
  std::optional<NodeScore>& score = class_scores_[static_cast<std::size_t>(alike)];
  if (!score) score = best_on(node, shape, alternative).score;
  return *score;
}

double BerthPlacer::potential_of(NodeIndex node) {
  std::optional<double>& potential = potentials_[static_cast<std::size_t>(node)];
  if (!potential) potential = potential_.of(keys_[static_cast<std::size_t>(node)]);
  return *potential;
}

void BerthPlacer::renew_if_needed() {
  const auto gpus = static_cast<double>(cluster_->problem().gpu_count);
  looks_at_ = arrivals_ + std::max<std::int64_t>(1, static_cast<std::int64_t>(kArrivalsPerLook * gpus));
  if (!potential_.weigh(keys_, cluster_->problem().capacity_milli(), kShiftMin)) return;
  std::ranges::fill(potentials_, std::nullopt);
  classify();
  board_.forget();
}

void BerthPlacer::try_state(const Spot& spot, GpuStateIndex from, GpuStateIndex to, const PotentialKey& rest,
                            Spot& best, double& best_after) {
  PotentialKey after = rest;
  after.exchange(from, to);
  const double value = potential_.of(after);
  if (value <= best_after) return;
  best_after = value;
  best = spot;
}

std::optional<mig::SiteSet> BerthPlacer::kept_sites(NodeIndex node, int gpu) const {
  const bool is_kept =
      kept_free_ && kept_free_->node == node && ((kept_free_->gpus >> static_cast<unsigned>(gpu)) & 1U) != 0;
  if (!is_kept) return mig::SiteSet{0};
  return kept_free_->slices == 0 ? std::nullopt : std::optional(kept_free_->slices);
}

void BerthPlacer::try_slices(NodeIndex node, int gpu, const SliceNeed& need, const PotentialKey& rest, Spot& best,
                             double& best_after) {
  const CutIndex index = *cluster_->node(node).cut;
  const Cut& cut = cluster_->problem().cuts[static_cast<std::size_t>(index)];
  const mig::SiteSet standing = cluster_->slices_on(node, gpu);
  const auto kept = kept_sites(node, gpu);
  if (!kept) return;
  const GpuStateIndex from = outlooks_.state_with_slices(index, standing);
  Spot spot{.node = node, .gpus = static_cast<GpuSet>(1U << static_cast<unsigned>(gpu))};
  if (need.count > 1) {
    const auto sites = lowest_sites(cut, standing | *kept, need);
    if (!sites) return;
    spot.slices = *sites;
    return try_state(spot, from, outlooks_.state_with_slices(index, standing | *sites), rest, best, best_after);
  }
  for (mig::SiteSet left = cut.map.kinds[static_cast<std::size_t>(need.kind)].sites; left != 0; left &= left - 1) {
    const mig::SiteIndex site(std::countr_zero(left));
    if (!cut.map.fits(standing | *kept, site)) continue;
    spot.slices = mig::SiteSet{1} << static_cast<unsigned>(static_cast<int>(site));
    try_state(spot, from, outlooks_.state_with_slices(index, standing | spot.slices), rest, best, best_after);
  }
}

BerthPlacer::Scored BerthPlacer::best_shared(NodeIndex node, const Shape& shape, std::size_t alternative,
                                             PotentialKey rest) {
  const NodeState& state = cluster_->state(node);
  const std::optional<CutIndex> cut = cluster_->node(node).cut;
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  double best_after = kNothing;
  Scored best;
  std::array<GpuStateIndex, kNodeGpusMax> seen = {};
  std::size_t seen_count = 0;
  for (int gpu = 0; gpu < state.gpu_count; ++gpu) {
    const int free = state.free_of[static_cast<std::size_t>(gpu)];
    if (free < shape.gpu_milli) continue;
    // GPUs in one state are equally good: only the first is scored.
    const GpuStateIndex from = outlooks_.state_of(*cluster_, node, gpu);
    const auto seen_end = seen.begin() + static_cast<std::ptrdiff_t>(seen_count);
    if (std::find(seen.begin(), seen_end, from) != seen_end) continue;
    seen[seen_count++] = from;
    if (cut) {
      const auto& need = shape.slices[alternative][static_cast<std::size_t>(*cut)];
      if (need && free == kGpuMilli) try_slices(node, gpu, *need, rest, best.spot, best_after);
    } else if (!shape.names_profile) {
      const Spot spot{.node = node, .gpus = static_cast<GpuSet>(1U << static_cast<unsigned>(gpu))};
      try_state(spot, from, outlooks_.state_with_free(free - shape.gpu_milli), rest, best.spot, best_after);
    }
  }
  if (best_after == kNothing) return {};
  best.score = static_cast<NodeScore>(std::floor(best_after - potential_of(node)));
  return best;
}

BerthPlacer::Scored BerthPlacer::best_on(NodeIndex node, const Shape& shape, std::size_t alternative) {
  const NodeState& state = cluster_->state(node);
  if (!has_room_beside_gpus(state, shape)) return {};
  PotentialKey after = keys_[static_cast<std::size_t>(node)];
  after.cpu_free -= static_cast<std::int32_t>(shape.cpu_milli);
  after.memory_free -= static_cast<std::int32_t>(shape.memory_mib);
  if (shape.is_shared() || !shape.slices.empty() || shape.names_profile)
    return best_shared(node, shape, alternative, after);
  if (std::popcount(state.whole_free) < shape.gpu_count) return {};
  const GpuSet gpus = first_free_gpus(state, shape.gpu_count);
  const GpuStateIndex taken = outlooks_.state_with_free(0);
  for (GpuSet rest = gpus; rest != 0; rest = static_cast<GpuSet>(rest & (rest - 1))) {
    after.exchange(outlooks_.state_of(*cluster_, node, std::countr_zero(rest)), taken);
  }
  const double gain = potential_.of(after) - potential_of(node);
  return {.score = static_cast<NodeScore>(std::floor(gain)), .spot = {.node = node, .gpus = gpus}};
}

std::optional<Spot> BerthPlacer::choose_alternative(ShapeIndex shape_index, std::size_t alternative) {
  const Shape& shape = cluster_->problem().shapes[static_cast<std::size_t>(shape_index)];
  const ShapeIndex board = boards_of_[static_cast<std::size_t>(shape_index)] + alternative;
  const bool looks_at_all = board_.is_forgotten(board);
  if (looks_at_all) std::ranges::fill(class_scores_, std::nullopt);
  const auto node = board_.best(board, [&](NodeIndex at) {
    return looks_at_all ? score_by_class(at, shape, alternative) : best_on(at, shape, alternative).score;
  });
  return node ? std::optional(best_on(*node, shape, alternative).spot) : std::nullopt;
}

std::optional<Spot> BerthPlacer::choose(ShapeIndex shape_index) {
  if (arrivals_++ >= looks_at_) renew_if_needed();
  return choose_anew(shape_index);
}

std::optional<Spot> BerthPlacer::choose_anew(ShapeIndex shape_index) {
  const Shape& shape = cluster_->problem().shapes[static_cast<std::size_t>(shape_index)];
  for (std::size_t alternative = 0; alternative < alternatives_of(shape); ++alternative) {
    if (const auto spot = choose_alternative(shape_index, alternative)) return spot;
  }
  return std::nullopt;
}

std::optional<Spot> BerthPlacer::choose_again(ShapeIndex shape_index, const Spot& spot, const Spot& kept_free) {
  const Shape& shape = cluster_->problem().shapes[static_cast<std::size_t>(shape_index)];
  const auto alternative = alternative_at(*cluster_, shape, spot);
  if (!alternative) return std::nullopt;
  // The node's scores differ while a part of it is kept free.
  kept_free_ = kept_free;
  touch(kept_free.node);
  auto again = choose_alternative(shape_index, *alternative);
  kept_free_.reset();
  touch(kept_free.node);
  if (again && again->slices == 0) again.reset();
  return again;
}

}  // namespace berth::placement
