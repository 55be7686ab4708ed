/// Slices on the GPUs of a cluster: where they fit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/placement/cluster.h"

namespace berth::placement {

/// The number of searches for a shape: one for each of its alternatives, at least one.
[[nodiscard]] std::size_t alternatives_of(const Shape& shape);
/// By shape: the index of the score board of its first alternative; those of the others follow. One more entry has the
/// total number of boards.
[[nodiscard]] std::vector<ShapeIndex> first_boards(const Problem& problem);

/// The sites of the needed slices on a GPU with these slices, each at its lowest start; nothing if they do not fit.
/// Lowest starts first is as good as any choice, because the slices are equally long.
[[nodiscard]] std::optional<mig::SiteSet> lowest_sites(const Cut& cut, mig::SiteSet standing, const SliceNeed& need);

/// Placement units that slices leave free on a GPU.
[[nodiscard]] int free_units(const Cut& cut, mig::SiteSet standing);

/// The kind of slices at sites of one kind. Requires: at least one site.
[[nodiscard]] mig::KindIndex kind_of(const Cut& cut, mig::SiteSet sites);

/// The spot of a pod that takes slices, or a share of a GPU that cannot be partitioned: for entry `alternative` of
/// `Shape::slices` on a GPU of the node. Nothing if it does not fit there.
[[nodiscard]] std::optional<Spot> slice_spot(const Cluster& cluster, NodeIndex node, int gpu, const Shape& shape,
                                             std::size_t alternative);

/// Which of a pod's alternatives is at a spot; nothing if none is.
[[nodiscard]] std::optional<std::size_t> alternative_at(const Cluster& cluster, const Shape& shape, const Spot& spot);

}  // namespace berth::placement
