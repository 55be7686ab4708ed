/// The changes at one boundary of the joint bound: from what each state is worth there to what it is worth if it may
/// change first.
///
/// A change drops pieces and adds others: one pass over the states that adds pieces one by one, from the last state on,
/// and one that drops them, O(states x kinds x services) each. A piece that is created costs more than one that is
/// handed over. One that is handed over by another service is followed through a change; where two or more are, none of
/// the change is created.
#pragma once

#include <vector>

#include "one_gpu/detail/joint_states.h"

namespace berth::planner {

class JointChanges {
 public:
  /// What pieces cost, [step], less is worse: one that is handed over, one that is created; and what one that is
  /// dropped may give beyond the boundary. The price is that of a piece that is created or destroyed.
  struct Costs {
    std::vector<double> given;
    std::vector<double> created;
    std::vector<double> dropped;
    double price = 0;
  };
  /// How slices are had that serve nobody before: they began to be created a slot earlier, while retraining went on, or
  /// they need not be created.
  struct Takeover {
    bool while_training = false;
    bool at_once = false;
  };

  /// Keeps references.
  JointChanges(const GpuCase& gpu_case, const JointStates& states, const std::vector<int>& stale_services);

  /// Between two boundaries are so many slots: several changes that are quicker may begin at one boundary.
  void allow_in_blocks(int block_slots);

  /// `values` [state]. `rewards` [room]: of the progress that is made beside it in the slot; empty where there is none.
  void make(const Costs& costs, const std::vector<double>& rewards, Takeover takeover, double* values);

  /// After `make`, on what it left: the same where slices stand, of whatever kinds, that serve nobody.
  void take_spare(double* values) { take_at_once(true, values); }

 private:
  using Edge = JointStates::Edge;

  /// What a state is worth after a change to it or to one with more pieces, [state].
  struct Changed {
    std::vector<double> created;     ///< every piece more is created
    std::vector<double> given;       ///< none is
    std::vector<double> training;    ///< as created, less what retraining makes beside what stands after the change
    std::vector<double> handed_one;  ///< one takes the place of a piece that is dropped, the others are created
    std::vector<double> handed_all;  ///< the same, but the others are not created
    std::vector<double> handed_two;  ///< two take the places of dropped ones, the others are not created
  };

  void add_pieces(const std::vector<double>& rewards, const double* values);
  void hand_over(int state);
  void drop_pieces(double* values);
  void take_while_training(const std::vector<double>& rewards, double* values) const;
  void take_at_once(bool is_everywhere, double* values);
  void make_quickly(double* values);
  void drop(double* values) const;

  const GpuCase& case_;
  const JointStates& states_;
  int trained_services_;             ///< that many slices retrain at once, at most
  std::vector<char> trains_on_;      ///< [kind], some service may retrain on it
  std::vector<char> trains_beside_;  ///< [room], something could retrain beside it
  int quick_rounds_ = 0;
  std::vector<Edge> quick_edges_;  ///< of pieces that get ready within a block
  std::vector<int> quick_begin_;   ///< [state], states + 1
  const Costs* costs_ = nullptr;
  Changed changed_;
};

}  // namespace berth::planner
