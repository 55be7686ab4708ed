/// An upper bound of the window problem of one GPU: all services together, without places.
///
/// All combinations of the services' holdings are enumerated (joint_states.h), so that sharing the GPU relaxes nothing.
/// The value of a state from a slot on is a dynamic program backward over the boundaries of blocks of slots. A change
/// drops pieces and adds others (joint_changes.h):
///     max over the common part: its worth until the new pieces are ready
///                               + max over the added pieces: the worth of all from then on
///
/// A change may begin between two boundaries (joint_costs.h). Several changes in one block, if pieces are ready that
/// soon, are allowed at one boundary.
///
/// If models become stale, a state has a phase for each of them (joint_phases.h), blocks have one slot, and progress
/// has prices (joint_progress.h).
///
/// A slice that does not serve is taken over without its creation time only if it exists at the beginning: otherwise
/// the service that takes it later, even from a retraining, could have created it in its space one slot earlier, except
/// for the progress of that slot. For a bound from a slot at which such a slice exists, it is taken over at once.
///
/// The price of changes counts only if no model can retrain: for all pieces of a change that are not handed over, if at
/// most one is; for the difference in kinds of two states if a change is given.
///
/// Ignored by the bound: places, budgets, pins, the time of a change of variant if variants are free, and that a change
/// waits for earlier ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "planner/one_gpu/detail/gpu_case.h"
#include "planner/one_gpu/detail/joint_blocks.h"
#include "planner/one_gpu/detail/joint_changes.h"
#include "planner/one_gpu/detail/joint_costs.h"
#include "planner/one_gpu/detail/joint_phases.h"
#include "planner/one_gpu/detail/joint_progress.h"
#include "planner/one_gpu/detail/joint_states.h"
#include "planner/one_gpu/detail/joint_worth.h"
#include "planner/one_gpu/detail/model_state.h"
#include "planner/one_gpu/detail/price_bound.h"

namespace berth::planner {

class JointBound {
 public:
  /// Keeps a reference to the case. See `is_usable` for `states_max`.
  JointBound(const GpuCase& gpu_case, Variants variants, int states_max);
  JointBound(const JointBound&) = delete;
  JointBound& operator=(const JointBound&) = delete;

  /// Whether the number of states, times the phases of the models, is within the limit. All other functions require it.
  [[nodiscard]] bool is_usable() const { return states_.is_usable(); }
  [[nodiscard]] int states() const { return states_.count(); }
  /// Whether no model becomes stale.
  [[nodiscard]] bool is_always_fresh() const { return phases_.is_always_fresh(); }

  /// Solves the program, with blocks of at most this many slots; of one slot if models become stale or pieces may be
  /// ready at once. Existing pieces may always continue. All functions that return values require a call of it.
  /// Requires: `prices` if some model becomes stale.
  void compute(int block_slots, const std::vector<BundleIndex>& standing_bundles, const PriceBound* prices);

  /// From the next `compute` on the price of progress is that of the PriceBound times this factor, [service]. Initially
  /// 1.
  void set_progress_scales(std::vector<double> scales) { progress_.set_scales(std::move(scales)); }

  /// The state in which the services hold these bundles, [service].
  [[nodiscard]] StateIndex state_of(const std::vector<BundleIndex>& bundles) const { return states_.state_of(bundles); }
  /// An upper bound of the worth from slot t in [first_slot, slots] on, if the schedule has this state then with all
  /// pieces ready.
  [[nodiscard]] double from(SlotIndex t, StateIndex state) const;
  /// The same if models are in these states, [service]. `has_spare`: there are slices at t that do not serve (idle or
  /// retraining), so that a service that takes one at t need not create it. Those that exist initially at first_slot
  /// need not be reported.
  [[nodiscard]] double from(SlotIndex t, StateIndex state, const std::vector<ModelState>& models, bool has_spare) const;

  /// By how much the bound falls if nothing changes before the next boundary; 0 if t is not a boundary. Requires: no
  /// model becomes stale.
  [[nodiscard]] double loss_of_waiting(SlotIndex t, StateIndex state) const;

  struct StateChange {
    StateIndex state = StateIndex(0);
    double value = 0;    ///< a bound
    double staying = 0;  ///< its worth if it existed from t on without further changes
  };
  /// The states to which a change at slot t may be worth more than `least`, each with a bound of its worth from t on.
  /// O(states). Requires: no model becomes stale.
  [[nodiscard]] std::vector<StateChange> targets(SlotIndex t, StateIndex state, double least);
  /// The bundles that represent the holding of a service in a state.
  [[nodiscard]] const std::vector<BundleIndex>& bundles_of(StateIndex state, ServiceIndex service) const {
    return states_.bundles_of(state, service);
  }

 private:
  /// The gain of the services from changes at one slot, by the number of slots until all pieces are ready (the "lock":
  /// 0 if nothing begins, else the time of the slowest service that gets more).
  struct Outcomes {
    std::vector<int> locks;             ///< slots
    std::vector<std::size_t> begin_of;  ///< [service], in lock_of
    std::vector<std::uint8_t> lock_of;  ///< [service][holding], index into locks: the service's own time
    std::vector<double> values;         ///< [service][holding][lock]
  };

  void compute_boundary(BlockIndex boundary);
  void compute_phases(BlockIndex boundary, PhasesIndex phases);
  void take_spare(BlockIndex boundary, PhasesIndex phases, bool can_change);
  void hold(BlockIndex block, PhasesIndex phases, const std::vector<double>& rewards, double* values) const;
  void hold_tail(PhasesIndex phases, double* values) const;
  void add_gains(const std::vector<double>& gains, const std::vector<std::size_t>& begin_of, double* values) const;
  [[nodiscard]] Outcomes outcomes_at(SlotIndex t, StateIndex from);
  void add_outcomes(ServiceIndex service, SlotIndex t, HoldingIndex old, Outcomes& outcomes);
  [[nodiscard]] double staying(SlotIndex t, StateIndex state) const;
  [[nodiscard]] std::size_t place_of(BlockIndex boundary, PhasesIndex phases) const {
    return (ix(boundary) * ix(phases_.count()) + ix(phases)) * ix(states_.count());
  }

  const GpuCase& case_;
  int services_;
  JointPhases phases_;
  JointStates states_;
  JointWorth worth_;
  JointBlocks blocks_;
  JointProgress progress_;
  JointCosts costs_;
  JointChanges changes_;
  std::vector<double> values_;  ///< [(boundary x phases + phases) x states + state]
  std::vector<double> taking_;  ///< the same with spare slices at the boundary; empty: not distinguished
};

}  // namespace berth::planner
