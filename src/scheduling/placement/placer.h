/// Policies as one thing: they see a cluster and say where the next pod goes.
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

/// One of the fitting nodes, and of the fitting GPUs for a shared pod, each with the same chance.
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

/// The policy on a cluster, which must outlive it. `rng` is for `random` alone.
[[nodiscard]] Placer make_placer(Policy policy, const Cluster& cluster, const Rng& rng);

}  // namespace berth::placement
