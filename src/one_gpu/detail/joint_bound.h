/// An upper bound of the window problem of one GPU: all services together, without places.
///
/// All combinations of what the services may hold are enumerated (joint_states.h), so that sharing the GPU relaxes
/// nothing. The value of a state from a slot on is a dynamic program backward over the boundaries of blocks of slots. A
/// change drops pieces and adds others (joint_changes.h):
///     max over the common part of: (its loss until the new pieces are ready) + max over the added pieces of the rest
///
/// A change may begin between two boundaries. Its cost is a sum over its pieces of functions of its slot; each is at
/// most the straight line between its values at the boundaries plus the largest excess over that line. So a bound over
/// the boundaries alone is valid; several changes in one block, if pieces are ready that soon, are allowed at one
/// boundary.
///
/// If models become stale, a state has a phase for each of them (fresh, stuck, training; see price_bound.h), blocks
/// have one slot, and progress has the prices of a PriceBound: it is paid as it is made, by the best pieces to retrain
/// on that fit together with the state, and charged when the retraining is done.
///
/// A slice that serves no service is taken over without the time to create it only if it exists at first: otherwise the
/// service that takes it later, also from a retraining, could have created it in its room a slot before, except for the
/// progress of that slot. For a bound from a slot on at which such a slice exists, it is taken over at once.
///
/// The price of changes counts if no model can retrain: for all pieces of a change that are not handed over, if no more
/// than one is; for the difference in kinds of two states if a change is given.
///
/// Ignored by the bound: places, budgets, pins, that a change of variant takes time if variants are free, and that a
/// change waits for the ones before it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "one_gpu/detail/gpu_case.h"
#include "one_gpu/detail/joint_changes.h"
#include "one_gpu/detail/joint_states.h"
#include "one_gpu/detail/model_state.h"
#include "one_gpu/detail/price_bound.h"

namespace berth::planner {

/// The number of a block of slots, and of the boundary at which it begins.
using BlockIndex = Index<struct BlockTag>;

class JointBound {
 public:
  /// Keeps a reference to the case. See `is_usable` for `states_max`.
  JointBound(const GpuCase& gpu_case, Variants variants, int states_max);
  JointBound(const JointBound&) = delete;
  JointBound& operator=(const JointBound&) = delete;

  /// Whether there are no more states, with the phases of the models, than allowed. The rest requires it.
  [[nodiscard]] bool is_usable() const { return states_.is_usable(); }
  [[nodiscard]] int states() const { return states_.count(); }
  /// Whether no model becomes stale.
  [[nodiscard]] bool is_always_fresh() const { return phases_ == 1; }

  /// Solves the program, with blocks of at most this many slots. Existing pieces may continue whatever the rules say.
  /// Requires: `prices` if some model becomes stale; blocks have one slot then.
  void compute(int block_slots, const std::vector<BundleIndex>& standing_bundles, const PriceBound* prices);

  /// From the next `compute` on the price of progress is that of the PriceBound times this factor, [service]. 1 at
  /// first.
  void set_progress_scales(std::vector<double> scales) { progress_scales_ = std::move(scales); }

  /// The number of what the services hold, [service] a bundle each.
  [[nodiscard]] StateIndex state_of(const std::vector<BundleIndex>& bundles) const { return states_.state_of(bundles); }
  /// No schedule is worth more from slot t in [first_slot, slots] on if it has this state then, all of it ready.
  [[nodiscard]] double from(SlotIndex t, StateIndex state) const;
  /// The same if models are in these states, [service]. `has_spare`: slices exist at t that serve no service, idle or
  /// used by a retraining, so that a service that takes one at t need not create it. Those that exist at first_slot at
  /// first need not be reported.
  [[nodiscard]] double from(SlotIndex t, StateIndex state, const std::vector<ModelState>& models, bool has_spare) const;

  /// By how much the bound falls if nothing changes before the next boundary; 0 if t is no boundary.
  [[nodiscard]] double loss_of_waiting(SlotIndex t, StateIndex state) const;

  struct Target {
    StateIndex state{};
    double value = 0;    ///< a bound
    double staying = 0;  ///< its worth if it existed from t on and nothing else changed
  };
  /// The states to which a change at slot t may be worth more than `least`, each with a bound of its worth from t on.
  /// O(states).
  [[nodiscard]] std::vector<Target> targets(SlotIndex t, StateIndex state, double least);
  /// The bundles that represent the holding of a service in a state.
  [[nodiscard]] const std::vector<BundleIndex>& bundles_of(StateIndex state, ServiceIndex service) const {
    return states_.bundles_of(state, service);
  }

 private:
  /// What a service serves with each holding, with the best variants.
  struct Worth {
    std::vector<double> sums;  ///< [slot x holdings + holding], of the slots before
    std::vector<double> tail;  ///< [holding]
  };
  using Addition = JointStates::Addition;

  [[nodiscard]] Worth worth_of(ServiceIndex service, bool is_fresh) const;
  [[nodiscard]] double served(ServiceIndex service, HoldingIndex holding, SlotIndex from, SlotIndex to) const;
  [[nodiscard]] double staying(SlotIndex t, StateIndex state) const;
  void add_outcomes(ServiceIndex service, SlotIndex t, HoldingIndex old, const std::vector<int>& locks,
                    std::vector<std::uint8_t>& lock_of, std::vector<double>& outcomes);
  void make_margins();
  [[nodiscard]] std::vector<double> margins_where(bool is_surely_fresh) const;
  void make_blocks(int block_slots);
  void find_free_kinds(const std::vector<BundleIndex>& standing_bundles);
  void find_price();
  /// The excess over the straight line of pieces that begin between the boundaries of a block, [addition].
  struct Cell {
    std::vector<double> given;
    std::vector<double> created;
    std::vector<double> dropped;
  };
  using Costs = JointChanges::Costs;
  [[nodiscard]] double margin_of(const Addition& addition, SlotIndex slot, bool is_surely_fresh) const;
  [[nodiscard]] const double* margins(SlotIndex slot) const {
    return margins_.data() + ix(case_.capped(slot)) * states_.additions().size();
  }
  void make_cell(BlockIndex block, Cell& cell) const;
  void bend(ServiceIndex service, BlockIndex block, int delay, double sign, std::vector<double>& most) const;
  [[nodiscard]] bool is_created_before(BlockIndex boundary) const;
  void make_costs(BlockIndex boundary);
  void set_costs(ServiceIndex service, BlockIndex boundary, bool is_fresh, Costs& costs) const;
  [[nodiscard]] SlotIndex next_due(ServiceIndex service, SlotIndex slot) const;
  void choose_costs(int phases);
  [[nodiscard]] bool can_change_at(BlockIndex boundary) const;
  struct Between {
    BlockIndex block{};
    SlotIndex begin{};
    SlotIndex end{};
    double share = 0;  ///< of what is counted at the end of the block
  };
  [[nodiscard]] Between between(SlotIndex t) const;
  void take_spare(BlockIndex boundary, int phases, bool can_change);
  [[nodiscard]] PhaseIndex phase_of(int phases, ServiceIndex service) const;
  [[nodiscard]] std::vector<std::uint8_t> reachable_phases(ServiceIndex service) const;
  [[nodiscard]] bool is_reachable(SlotIndex slot, int phases) const;
  void enter(SlotIndex slot, double* values) const;
  void get_done(SlotIndex slot, double* values) const;
  [[nodiscard]] std::vector<double> rewards_of_rooms(SlotIndex slot, int phases) const;
  [[nodiscard]] double price_of_progress(ServiceIndex service, SlotIndex slot) const;
  [[nodiscard]] double price_in(SlotIndex slot, PhaseIndex phase, ServiceIndex service) const;
  [[nodiscard]] double best_reward(SlotIndex slot, int phases, std::size_t next, RoomIndex room) const;
  void hold(BlockIndex block, int phases, const std::vector<double>& rewards, double* values) const;
  void hold_tail(int phases, double* values) const;
  [[nodiscard]] bool is_soon_created() const;
  [[nodiscard]] JointChanges::Takeover takeover_at(BlockIndex boundary) const;
  void add_gains(const std::vector<double>& gains, const std::vector<std::size_t>& begin_of, double* values) const;

  const GpuCase& case_;
  int services_;
  int kinds_;
  std::vector<ServiceIndex> stale_services_;  ///< whose models may be or become stale
  int phases_;                                ///< of all models together
  JointStates states_;
  JointChanges changes_;
  const PriceBound* prices_ = nullptr;
  std::vector<double> progress_scales_;               ///< [service]
  std::vector<std::vector<std::uint8_t>> reachable_;  ///< [of stale_services_][slot], a bit for each phase
  std::vector<Worth> fresh_;                          ///< [service]
  std::vector<Worth> stale_;                          ///< [service], empty where the model is never stale
  std::vector<double> margins_;        ///< [slot x additions + addition], what a piece more serves in the slots before
  std::vector<double> fresh_margins_;  ///< the same while the model is fresh; empty where all always are
  std::vector<int> created_slots_;     ///< [service], until a piece that is created is ready
  std::vector<char> is_free_;          ///< [kind], pieces of it stand that nobody uses
  std::vector<BlockIndex> block_of_;   ///< [slot]
  std::vector<SlotIndex> begins_;      ///< [block], and the end of the window
  std::vector<char> can_change_;       ///< [block]
  std::array<Costs, 2> costs_at_;      ///< [is_fresh]
  Costs costs_;                        ///< of a boundary and the phases of all models
  Cell cell_;                          ///< of the block after the boundary
  Cell cell_before_;                   ///< of the one before
  bool is_soon_created_ = false;
  double price_ = 0;                   ///< of a piece that is created or dropped where nothing is handed over
  std::vector<double> price_between_;  ///< [room x rooms + room], at least
  std::vector<double> values_;         ///< [(boundary x phases + phase) x states + state]
  std::vector<double> taking_;         ///< the same where slices are spare at the boundary; empty: no more
};

}  // namespace berth::planner
