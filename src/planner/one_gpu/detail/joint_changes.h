/// The changes at one boundary of the joint bound: from the worth of each state to its worth if a change may come
/// first.
///
/// A change drops pieces and adds others: one pass over the states that adds pieces one by one, from the last state on,
/// and one that drops them, O(states x kinds x services) each. Creating a piece costs more than handing one over. A
/// single piece that is handed over by another service is tracked through a change; if two or more are handed over, no
/// piece of the change counts as created.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/joint_states.h"

namespace berth::planner {

class JointChanges {
 public:
  /// The costs of pieces, [addition] (a smaller number is worse): of a piece that is handed over and of one that is
  /// created; and the possible contribution of a dropped piece beyond the boundary. The price is that of a piece that
  /// is created or destroyed.
  struct Costs {
    std::vector<double> given;
    std::vector<double> created;
    std::vector<double> dropped;
    double price = 0;
  };
  /// How slices that did not serve before are obtained: their creation began one slot earlier, during a retraining, or
  /// they need not be created.
  struct Takeover {
    bool while_training = false;
    bool at_once = false;
  };

  /// Keeps references.
  JointChanges(const GpuCase& gpu_case, const JointStates& states, const std::vector<ServiceIndex>& stale_services);

  /// Sets the slots between two boundaries: several changes that are faster than that may begin at one boundary.
  void allow_in_blocks(int block_slots);

  /// `values` [state]. `rewards` [room]: for the progress made next to it in the slot; empty if there is none.
  void make(const Costs& costs, const std::vector<double>& rewards, Takeover takeover, double* values);

  /// After `make`, on its result: the same if there are slices, of any kinds, that serve no service.
  void take_spare(double* values) { take_at_once(true, values); }

 private:
  using Edge = JointStates::Edge;

  /// The worth of a state after a change to it or to one with more pieces, [state].
  struct Changed {
    std::vector<double> created;     ///< all additional pieces are created
    std::vector<double> given;       ///< none is created
    std::vector<double> handed_one;  ///< one takes the place of a piece that is dropped, the others are created
    std::vector<double> handed_all;  ///< the same, but the others are not created
    std::vector<double> handed_two;  ///< two take the places of dropped ones, the others are not created
  };

  void take_while_training(const std::vector<double>& rewards, double* values);
  void add_pieces(const double* values);
  void hand_over(StateIndex state);
  void drop_pieces(double* values);
  void take_at_once(bool is_everywhere, double* values);
  void make_quickly(double* values);
  void drop(double* values) const;

  const GpuCase& case_;
  const JointStates& states_;
  int trained_services_;              ///< the most slices that retrain at once
  std::vector<char> trains_on_;       ///< [kind], some service may retrain on it
  std::vector<char> can_also_train_;  ///< [room], a retraining slice fits next to it
  int quick_rounds_ = 0;
  std::vector<Edge> quick_edges_;  ///< of pieces that are ready within a block
  std::vector<int> quick_begin_;   ///< [state], states + 1
  const Costs* costs_ = nullptr;
  Changed changed_;
  std::vector<double> training_;  ///< [state], the worth of the take-over in the next slot, minus the reward without it
};

}  // namespace berth::planner
