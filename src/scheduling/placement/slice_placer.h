/// The policies of GPUs that can be partitioned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/placement/cluster.h"
#include "scheduling/placement/policy_name.h"
#include "scheduling/placement/score_board.h"
#include "scheduling/placement/slices.h"

namespace berth::placement {

/// `first`: the first node, GPU and start. `best`: the GPU with the fewest free units, then the first; whole GPUs, and
/// pods without GPUs, as `first`. A pod with alternatives takes the first of them that fits anywhere.
class SlicePlacer {
 public:
  SlicePlacer(Policy policy, const Cluster& cluster);
  [[nodiscard]] std::optional<Spot> choose(ShapeIndex shape);
  void touch(NodeIndex node) { board_.touch(node); }

 private:
  struct Scored {
    NodeScore score = kNoFit;
    Spot spot;
  };
  [[nodiscard]] std::optional<Spot> choose_alternative(ShapeIndex shape, std::size_t alternative);
  [[nodiscard]] Scored best_on(NodeIndex node, const Shape& shape, std::size_t alternative) const;
  [[nodiscard]] NodeScore score(const Spot& spot) const;

  Policy policy_;
  const Cluster* cluster_;
  std::vector<ShapeIndex> boards_of_;  ///< by shape: the board of its first alternative; those of the others follow
  ScoreBoard board_;
};

}  // namespace berth::placement
