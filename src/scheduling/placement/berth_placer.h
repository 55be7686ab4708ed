/// Berth's own placement: the pod goes to the node that loses the least potential (potential.h).
///
/// It knows the rows of the list, and sees arrivals and departures; it does not look ahead. The weights of the
/// potential follow the state of the cluster, and are recomputed when enough pods have arrived.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/placement/potential.h"
#include "scheduling/placement/score_board.h"

namespace berth::placement {

class BerthPlacer {
 public:
  explicit BerthPlacer(const Cluster& cluster);

  /// O(log nodes), plus scoring the nodes that changed since the shape's last call; all nodes after the weights were
  /// recomputed.
  [[nodiscard]] std::optional<Spot> choose(ShapeIndex shape);
  /// As `choose`, again for the same arrival.
  [[nodiscard]] std::optional<Spot> choose_anew(ShapeIndex shape);
  /// Another place for slices like those of a spot, without touching what is kept free. Nothing if the best place is
  /// not a slice but a part of a GPU that is not partitioned.
  [[nodiscard]] std::optional<Spot> choose_again(ShapeIndex shape, const Spot& spot, const Spot& kept_free);
  void touch(NodeIndex node);

 private:
  /// The best spot on a node, and its loss: negative, in whole milli.
  struct Scored {
    NodeScore score = kNoFit;
    Spot spot;
  };
  [[nodiscard]] PotentialKey key_of(NodeIndex node);
  [[nodiscard]] std::optional<Spot> choose_alternative(ShapeIndex shape, std::size_t alternative);
  [[nodiscard]] Scored best_on(NodeIndex node, const Shape& shape, std::size_t alternative);
  [[nodiscard]] Scored best_shared(NodeIndex node, const Shape& shape, std::size_t alternative, PotentialKey rest);
  /// The sites of a GPU that slices must leave free; nothing if the whole GPU is kept.
  [[nodiscard]] std::optional<mig::SiteSet> kept_sites(NodeIndex node, int gpu) const;
  void try_slices(NodeIndex node, int gpu, const SliceNeed& need, const PotentialKey& rest, Spot& best,
                  double& best_after);
  void try_state(const Spot& spot, GpuStateIndex from, GpuStateIndex to, const PotentialKey& rest, Spot& best,
                 double& best_after);
  [[nodiscard]] double potential_of(NodeIndex node);
  void renew_if_needed();
  /// Groups nodes that are alike into classes.
  void classify();
  /// As best_on, for the whole list: nodes that are alike have one score.
  [[nodiscard]] NodeScore score_by_class(NodeIndex node, const Shape& shape, std::size_t alternative);

  const Cluster* cluster_;
  GpuOutlooks outlooks_;
  Potential potential_;
  std::vector<ShapeIndex> boards_of_;  ///< by shape: the board of its first alternative; those of the others follow
  ScoreBoard board_;
  std::vector<PotentialKey> keys_;                 ///< by node
  std::vector<std::optional<double>> potentials_;  ///< by node, once needed: that of its key
  std::vector<std::int32_t> class_of_;  ///< by node: those that were alike at the last renewal; -1: changed since
  std::vector<std::optional<NodeScore>> class_scores_;  ///< by class, for the shape in question
  std::optional<Spot> kept_free_;                       ///< GPUs, or sites of one, that no slice may take for now
  std::int64_t arrivals_ = 0;
  std::int64_t looks_at_ = 0;  ///< arrivals at which the weights are checked next
};

}  // namespace berth::placement
