/// The changes of one label in one slot that are worth placing: the shares of the services, smallest loss first.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/labels.h"

namespace berth::planner {

/// A label and a slot in which changes begin. Losses are relative to `bound`, a bound of the label.
struct Branch {
  LabelIndex label = LabelIndex(0);
  SlotIndex slot = SlotIndex(0);
  double bound = 0;
};

/// The shares of the services after a change, and its least loss.
struct Deal {
  double loss = 0;
  std::vector<Share> shares;
};

class Draft {
 public:
  /// Deals that lose `slack` or more are useless; at most `deals_max` are kept.
  Draft(double slack, int deals_max);

  /// The loss of a deal must be below this. It falls when deals are left out because there are too many.
  [[nodiscard]] double slack() const { return slack_; }
  /// Whether useful deals may have been left out; they lose at least `slack`.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

  /// Requires: loss < slack.
  void add(double loss, const std::vector<Share>& shares);
  /// Ends the search for deals; those not found may have any loss.
  void stop();

  /// Takes the deals out, ascending by loss.
  [[nodiscard]] std::vector<Deal> take();

 private:
  [[nodiscard]] static bool smaller_loss(const Deal& a, const Deal& b) { return a.loss < b.loss; }

  double slack_;
  std::size_t deals_max_;
  bool is_cut_ = false;
  std::vector<Deal> deals_;  ///< a heap, largest loss first
};

}  // namespace berth::planner
