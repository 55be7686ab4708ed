#include "scheduling/placement/slices.h"

#include <algorithm>
#include <bit>

#include "base/core/ensure.h"

namespace berth::placement {

std::size_t alternatives_of(const Shape& shape) { return std::max<std::size_t>(1, shape.slices.size()); }

std::vector<ShapeIndex> first_boards(const Problem& problem) {
  std::vector<ShapeIndex> first;
  first.reserve(problem.shapes.size() + 1);
  ShapeIndex next(0);
  for (const Shape& shape : problem.shapes) {
    first.push_back(next);
    next += static_cast<int>(alternatives_of(shape));
  }
  first.push_back(next);
  return first;
}

std::optional<mig::SiteSet> lowest_sites(const Cut& cut, mig::SiteSet standing, const SliceNeed& need) {
  mig::SiteSet added = 0;
  mig::SiteSet left = cut.map.kinds[static_cast<std::size_t>(need.kind)].sites;  // sites of a kind ascend by start
  for (int placed = 0; placed < need.count; ++placed) {
    for (;; left &= left - 1) {
      if (left == 0) return std::nullopt;
      const mig::SiteIndex site(std::countr_zero(left));
      if (!cut.map.fits(standing | added, site)) continue;
      added |= mig::SiteSet{1} << static_cast<unsigned>(static_cast<int>(site));
      break;
    }
  }
  return added;
}

int free_units(const Cut& cut, mig::SiteSet standing) {
  int units = cut.model.units;
  for (mig::SiteSet rest = standing; rest != 0; rest &= rest - 1) {
    const mig::Site& site = cut.map.sites[static_cast<std::size_t>(std::countr_zero(rest))];
    units -= cut.map.kinds[static_cast<std::size_t>(site.kind)].length;
  }
  return units;
}

mig::KindIndex kind_of(const Cut& cut, mig::SiteSet sites) {
  ENSURE(sites != 0);
  return cut.map.sites[static_cast<std::size_t>(std::countr_zero(sites))].kind;
}

std::optional<Spot> slice_spot(const Cluster& cluster, NodeIndex node, int gpu, const Shape& shape,
                               std::size_t alternative) {
  const std::optional<CutIndex> cut_index = cluster.node(node).cut;
  const std::int16_t free = cluster.state(node).free_of[static_cast<std::size_t>(gpu)];
  const auto gpus = static_cast<GpuSet>(1U << static_cast<unsigned>(gpu));
  if (!cut_index) {
    if (shape.names_profile || free < shape.gpu_milli) return std::nullopt;
    return Spot{.node = node, .gpus = gpus};
  }
  const auto& need = shape.slices[alternative][static_cast<std::size_t>(*cut_index)];
  if (!need || free < kGpuMilli) return std::nullopt;
  const Cut& cut = cluster.problem().cuts[static_cast<std::size_t>(*cut_index)];
  const auto sites = lowest_sites(cut, cluster.slices_on(node, gpu), *need);
  if (!sites) return std::nullopt;
  return Spot{.node = node, .gpus = gpus, .slices = *sites};
}

std::optional<std::size_t> alternative_at(const Cluster& cluster, const Shape& shape, const Spot& spot) {
  const CutIndex cut = *cluster.node(spot.node).cut;
  const mig::KindIndex kind = kind_of(cluster.problem().cuts[static_cast<std::size_t>(cut)], spot.slices);
  for (std::size_t alternative = 0; alternative < shape.slices.size(); ++alternative) {
    const auto& need = shape.slices[alternative][static_cast<std::size_t>(cut)];
    if (need && need->kind == kind && need->count == std::popcount(spot.slices)) return alternative;
  }
  return std::nullopt;
}

}  // namespace berth::placement
