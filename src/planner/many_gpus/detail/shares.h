/// The number of GPUs that supply each piece if each near-optimal use of space gets a share.
///
/// The slope of the best use of space jumps where two uses have equal worth; shares that fall exponentially with the
/// shortfall from the best use make it change smoothly. Each mixture of uses with a shortfall of at most x is a slope
/// of the best use up to x.
#pragma once

#include <array>
#include <vector>

#include "planner/many_gpus/space.h"

namespace berth::planner::fleet {

/// Shares of alternatives by their shortfall from the best. Softness > 0: the scale of the shortfall.
[[nodiscard]] double share_weight(double worth, double best, double softness);

/// Amounts of all nodes of one space, gathered from many GPUs and then passed down to kinds of pieces.
class SpaceShares {
 public:
  SpaceShares(const SpaceTree& tree, int kinds, std::size_t width);

  /// Sets the worth of a space and a kind at the prices that `space` and `by_kind` were filled with: shortfalls are
  /// measured relative to at least this worth.
  void set_reference(const SpaceValues& space, const std::vector<PieceTable>& by_kind);
  [[nodiscard]] double piece_reference(KindIndex kind, std::size_t at) const { return kind_reference_[idx(kind)][at]; }
  void clear();
  /// `amount` GPUs use the space of a node like this. Requires: the node has no rules.
  void add(const SpaceTree& tree, const NewSpace& new_space, double amount);
  /// Distributes the amounts added. Requires: `space` as last filled, without rules.
  void spread(const SpaceValues& space, const ModelTerms& model, double softness);
  /// After spread: the number of pieces of a kind, [a x width + b].
  [[nodiscard]] const std::vector<double>& pieces(KindIndex kind, bool is_on_same_site) const {
    return kinds_[idx(kind)][is_on_same_site ? 1 : 0];
  }

 private:
  void split_in_time(const Cell& cell, NodeTypeIndex type, bool is_same, double softness);
  void split_in_space(const SpaceValues& space, const ModelTerms& model, NodeTypeIndex type, bool is_same,
                      double softness);

  std::size_t width_;
  bool is_empty_ = true;
  std::vector<std::array<std::vector<double>, 2>> entries_;  ///< [type][same]: F
  std::vector<std::array<std::vector<double>, 2>> bases_;    ///< [type][same]
  std::vector<std::array<std::vector<double>, 2>> kinds_;    ///< [kind][same]
  std::vector<std::vector<double>> type_reference_;          ///< [type]
  std::vector<std::vector<double>> kind_reference_;          ///< [kind]
  std::vector<double> weights_;
};

}  // namespace berth::planner::fleet
