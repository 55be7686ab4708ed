/// One type for all policies: they see a cluster and choose where the next pod goes.
#pragma once

#include <optional>
#include <variant>

#include "base/core/rng.h"
#include "scheduling/placement/berth_placer.h"
#include "scheduling/placement/cluster.h"
#include "scheduling/placement/fragmentation.h"
#include "scheduling/placement/policy_name.h"
#include "scheduling/placement/score_board.h"
#include "scheduling/placement/slice_placer.h"

namespace berth::placement {

/// A uniformly random fitting node, and for a shared pod a uniformly random fitting GPU.
class RandomPlacer {
 public:
  RandomPlacer(const Cluster& cluster, Rng rng) : cluster_(&cluster), rng_(rng) {}
  [[nodiscard]] std::optional<Spot> choose(ShapeIndex shape);
  void touch(NodeIndex /*node*/) {}

 private:
  const Cluster* cluster_;
  Rng rng_;
  std::vector<NodeIndex> fitting_;
};

/// The node with the highest score of rivals.h, and its usual GPUs.
class RulePlacer {
 public:
  RulePlacer(Policy policy, const Cluster& cluster);
  [[nodiscard]] std::optional<Spot> choose(ShapeIndex shape);
  void touch(NodeIndex node) { board_.touch(node); }

 private:
  [[nodiscard]] NodeScore score(NodeIndex node, const Shape& shape) const;

  Policy policy_;
  const Cluster* cluster_;
  ScoreBoard board_;
};

/// Fragmentation gradient descent.
class FgdPlacer {
 public:
  explicit FgdPlacer(const Cluster& cluster);
  [[nodiscard]] std::optional<Spot> choose(ShapeIndex shape);
  void touch(NodeIndex node);

 private:
  const Cluster* cluster_;
  FgdScores scores_;
  ScoreBoard board_;
};

using Placer = std::variant<RandomPlacer, RulePlacer, FgdPlacer, SlicePlacer, BerthPlacer>;

/// The policy on a cluster, which must outlive it. `rng` is used only by `random`.
[[nodiscard]] Placer make_placer(Policy policy, const Cluster& cluster, const Rng& rng);

}  // namespace berth::placement
