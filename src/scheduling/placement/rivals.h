/// Scores of published policies: for a node on which a pod fits, higher is better. The rules of each are exact integer
/// arithmetic, divisions round down; docs/reference/scheduling.md states them.
///
/// Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient
/// Descent", USENIX ATC 2023, and its simulator.
#pragma once

#include <array>
#include <cstdint>

#include "scheduling/placement/cluster.h"
#include "scheduling/placement/score_board.h"

namespace berth::placement {

/// Requires for each: the pod fits on the node.
[[nodiscard]] NodeScore dot_product_score(const NodeState& state, const Shape& shape);
/// Not normalised over the nodes, which would change neither their order nor ties with the highest.
[[nodiscard]] NodeScore best_fit_score(const NodeState& state, const Shape& shape);
[[nodiscard]] NodeScore packing_score(const NodeState& state, const Shape& shape);
/// `pods_by_gpus` are the node's, as `Cluster::pods_by_gpus`.
[[nodiscard]] NodeScore clustering_score(const NodeState& state,
                                         const std::array<std::int32_t, kNodeGpusMax + 1>& pods_by_gpus,
                                         const Shape& shape);

}  // namespace berth::placement
