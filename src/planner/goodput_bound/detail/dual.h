/// The dual function: the total gain of GPUs and services at given prices. Every value that it takes is a bound.
///
/// In each block a GPU takes the set of slices, and each slice the good, that is worth most. Where slices are held by
/// one service at a time, a slice switched to another good makes nothing for a while: `delays` moves value of a good on
/// a kind of slice in time, from after a change of holder to before it, at most as much as the change loses, so that
/// changes gain less (docs/explanation/bound.md, "The cost of a change").
#pragma once

#include <span>
#include <vector>

#include "planner/goodput_bound/detail/blocks.h"
#include "planner/goodput_bound/detail/demand.h"
#include "planner/goodput_bound/detail/supply.h"

namespace berth::bound::detail {

/// [group][kind][yield][block]: shares, 0 to 1.
using Delays = std::vector<std::vector<std::vector<std::vector<double>>>>;

/// A point of the dual function: prices by good and block (of an answer, of a whole retraining, in accuracies).
struct DualPoint {
  Rows prices;
  Delays delays;
};

class Dual {
 public:
  /// `weights[s]`: the value of an answer of service s with accuracy 1; `sharing_factors` as in goodput_bound.h. The
  /// references must outlive it.
  Dual(const Supply& supply, std::vector<Demand>& demands, std::vector<double> weights, Blocks blocks,
       std::span<const double> sharing_factors);

  /// The bound at a point. `slope` becomes a subgradient: the amount made minus the amount used, times the service's
  /// weight, and likewise for the delays (0 if moving value gains nothing).
  [[nodiscard]] double value(const DualPoint& at, DualPoint& slope);

  /// The order of magnitude of the prices of each good: 1 for an answer; for a retraining, all answers while it runs on
  /// the fastest slice.
  [[nodiscard]] std::vector<double> price_scales() const;

  /// The point where all prices and delays are 0.
  [[nodiscard]] DualPoint origin() const;

 private:
  /// The best good of each kind in each block, by [kind][block].
  struct Choices {
    std::vector<std::vector<double>> worth;
    std::vector<std::vector<int>> yield;  ///< -1: none; kShared: held by several
  };
  static constexpr int kShared = -2;
  struct Holder {
    double worth = 0;
    std::size_t yield = 0;
  };

  [[nodiscard]] int dead_blocks(const Yield& yield) const;
  double sell(std::size_t group, const DualPoint& at, DualPoint& slope);
  void choose_alone(std::size_t group, std::size_t kind, const DualPoint& at);
  void choose_shared(const SliceKind& kind, std::size_t index, const Rows& prices);
  void choose_sets(const GpuGroup& group);
  void add_slope(std::size_t group, std::size_t kind, const DualPoint& at, DualPoint& slope);
  void add_shared_slope(const SliceKind& kind, std::size_t index, const Rows& prices, Rows& slope);
  void rank_holders(const SliceKind& kind, const Rows& prices, std::size_t block);
  [[nodiscard]] double sharing_factor(std::size_t rank) const;
  void find_worths(const Yield& yield, const Rows& prices);

  const Supply& supply_;
  std::vector<Demand>& demands_;
  std::vector<double> weights_;
  Blocks blocks_;
  std::size_t block_count_;
  std::span<const double> sharing_factors_;

  // Scratch.
  std::vector<Holder> holders_;
  Choices choices_;
  std::vector<int> set_;                     ///< by block: the best set
  std::vector<double> set_worth_;            ///< and its worth
  std::vector<std::vector<double>> counts_;  ///< [kind][block]: in the best set, times the GPUs
  std::vector<double> worths_;               ///< of one good on one kind, by block
  std::vector<double> losses_;               ///< the most that a change to this good at the block's beginning loses
};

}  // namespace berth::bound::detail
