/// An upper bound of the window problem of one GPU: all services together, without places.
///
/// A state is how many pieces of each kind each service serves with; all states that fit on the GPU are gone through,
/// so nothing is lost by the services sharing it. The value of holding from a slot on is a dynamic program backward
/// over the boundaries of blocks of slots. A change drops pieces and adds others:
///     max over what both have of: (its loss until the new ones are ready) + max over what is added of the rest
/// which is one pass over the states that adds pieces one by one, and one that drops them, O(states x kinds x services)
/// each. A piece that is created needs the time for that too. One that is handed over does not: one of them is followed
/// through a change, and where two or more are, none of the change is created.
///
/// A change may begin between two boundaries. What it costs is a sum over its pieces of functions of its slot; each is
/// no more than the straight line between its values at the boundaries and the most by which it passes that. So a
/// bound over the boundaries alone holds; several changes in one block, where pieces get ready so soon, are allowed at
/// one boundary.
///
/// Where models become stale, a state has a phase for each of them (fresh, stuck, training; see price_bound.h), blocks
/// have one slot, and progress has the prices of a PriceBound: it is paid as it is made, by the best pieces to retrain
/// on that have room together beside the state, and charged when the retraining is done.
///
/// A slice that serves nobody is taken over without the time to create it only where it stands at first: who takes it
/// later, from a retraining too, could have created it in its room a slot before, but for the progress of that slot.
///
/// The price of changes counts where nobody can retrain: for all pieces of a change that are not handed over, while no
/// more than one is; for what the kinds of two states differ by where a change is given.
///
/// Not in the bound: places, budgets, pins, that a change of variant takes time where variants are free, and that a
/// change waits for the ones before it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "planner/detail/gpu_case.h"
#include "planner/detail/model_state.h"
#include "planner/detail/price_search.h"

namespace berth::planner {

/// Whether a piece keeps its variant, or all pieces take the best ones in each slot: fewer states, a weaker bound.
enum class Variants { kKept, kFree };

class JointBound {
 public:
  /// Keeps a reference to the case. See `is_usable` for `states_max`.
  JointBound(const GpuCase& gpu_case, Variants variants, int states_max);

  /// Whether there are no more states, with the phases of the models, than allowed. The rest requires it.
  [[nodiscard]] bool is_usable() const { return is_usable_; }
  [[nodiscard]] int states() const { return states_; }
  /// Whether no model becomes stale.
  [[nodiscard]] bool is_always_fresh() const { return phases_ == 1; }

  /// Solves the program, with blocks of at most so many slots. What stands first may go on whatever the rules say.
  /// Requires: `prices` where some model becomes stale; blocks have one slot then.
  void compute(int block_slots, const std::vector<int>& standing_bundles, const PriceBound* prices);

  /// From the next `compute` on progress has its price of the PriceBound times so much, [service]. 1 at first.
  void set_progress_scales(std::vector<double> scales) { progress_scales_ = std::move(scales); }

  /// The number of what the services hold, [service] a bundle each.
  [[nodiscard]] int state_of(const std::vector<int>& bundles) const;
  /// No schedule is worth more from slot t in [first_slot, slots] on if it has this state then, all of it ready.
  [[nodiscard]] double from(int t, int state) const;
  /// The same where models are in these states, [service].
  [[nodiscard]] double from(int t, int state, const std::vector<ModelState>& models) const;

  /// By how much the bound falls if nothing changes before the next boundary; 0 where t is no boundary.
  [[nodiscard]] double loss_of_waiting(int t, int state) const;

  struct Target {
    int state = 0;
    double value = 0;    ///< a bound
    double staying = 0;  ///< what it would be worth if it stood from t on and nothing else changed
  };
  /// The states to which a change at slot t may be worth more than `least`, each with a bound of its worth from t on.
  /// O(states).
  [[nodiscard]] std::vector<Target> targets(int t, int state, double least);
  /// The bundles that count as what a service holds in a state.
  [[nodiscard]] const std::vector<int>& bundles_of(int state, int service) const;

 private:
  /// A piece more: of one service, from one multiset of kinds to the next.
  struct Step {
    int service = 0;
    int from = 0;
    int to = 0;
    int kind = 0;
  };
  struct Edge {
    std::int32_t to = 0;
    std::int16_t step = 0;
    std::int16_t is_last_of_kind = 0;  ///< of the edges of its state, which are in the order of kinds
  };
  /// What a service may hold, by kinds.
  struct Holdings {
    std::vector<std::vector<std::uint8_t>> counts;  ///< [holding][kind], or [label] where variants are kept
    std::map<std::vector<std::uint8_t>, int> of_counts;
    std::vector<int> room;                  ///< [holding]
    std::vector<int> of_bundle;             ///< [bundle]
    std::vector<std::vector<int>> bundles;  ///< [holding]
    std::vector<int> steps_begin;           ///< [holding], holdings + 1: its steps, in the order of kinds
    std::vector<double> stale_sums;         ///< where it may become stale
    std::vector<double> stale_tail;
    std::vector<double> sums;              ///< [slot x holdings + holding], of the best variants, of the slots before
    std::vector<double> tail;              ///< [holding]
    std::vector<char> keeps_floor;         ///< [holding]
    std::vector<std::vector<int>> rank;    ///< [room][holding], among those that fit beside the room; -1
    std::vector<int> first_child;          ///< [what the services before hold]
    std::vector<std::vector<int>> common;  ///< [holding][holding], made when asked for
    [[nodiscard]] int count() const { return static_cast<int>(room.size()); }
  };

  void add_holdings(int service);
  [[nodiscard]] std::vector<std::uint8_t> counts_by_kind(const Bundles& bundles,
                                                         const std::vector<std::uint8_t>& by_label) const;
  void add_values(int service, bool is_fresh, std::vector<double>& sums, std::vector<double>& tail) const;
  void find_phases();
  [[nodiscard]] static const std::vector<int>& common_with(Holdings& holdings, int old);
  [[nodiscard]] double staying(int t, int state) const;
  void add_outcomes(int service, int t, int old, const std::vector<int>& locks, std::vector<std::uint8_t>& lock_of,
                    std::vector<double>& outcomes);
  [[nodiscard]] bool count_states(int states_max);
  void make_states();
  void make_edges();
  void make_margins();
  [[nodiscard]] std::vector<double> margins_where(bool is_surely_fresh) const;
  void make_blocks(int block_slots);
  void make_quick_edges(int block_slots);
  void find_free_kinds(const std::vector<int>& standing_bundles);
  void find_training_rooms();
  void find_price();
  [[nodiscard]] int number_of(const std::uint16_t* holdings) const;
  [[nodiscard]] bool may_stand(int state) const;
  /// What pieces that begin between the boundaries of a block may give beyond the straight line, [step].
  struct Cell {
    std::vector<double> given;
    std::vector<double> created;
    std::vector<double> dropped;
  };
  /// What pieces cost that begin at a boundary, [step], less is worse: handed over, or created.
  struct Costs {
    std::vector<double> given;
    std::vector<double> created;
  };
  [[nodiscard]] double margin_of(const Step& step, int slot, bool is_surely_fresh) const;
  [[nodiscard]] const double* margins(int slot) const {
    return margins_.data() + ix(std::min(slot, case_.problem.slots)) * steps_.size();
  }
  void make_cell(int block, Cell& cell) const;
  void bend(int service, int block, int delay, double sign, std::vector<double>& most) const;
  [[nodiscard]] bool is_created_before(int boundary) const;
  void make_costs(int boundary);
  void set_costs(int service, int boundary, bool is_fresh, Costs& costs) const;
  [[nodiscard]] int next_due(int service, int slot) const;
  void choose_costs(int phases);
  [[nodiscard]] bool can_change_at(int boundary) const;
  struct Between {
    int block = 0;
    int begin = 0;
    int end = 0;
    double share = 0;  ///< of what is counted at the end of the block
  };
  [[nodiscard]] Between between(int t) const;
  [[nodiscard]] int phase_of(int phases, int service) const;
  [[nodiscard]] std::vector<std::uint8_t> reachable_phases(int service) const;
  [[nodiscard]] bool is_reachable(int slot, int phases) const;
  void enter(int slot, double* values) const;
  void get_done(int slot, double* values) const;
  [[nodiscard]] std::vector<double> rewards_of_rooms(int slot, int phases) const;
  [[nodiscard]] double price_of_progress(int service, int slot) const;
  [[nodiscard]] double price_in(int slot, int phase, int service) const;
  [[nodiscard]] double best_reward(int slot, int phases, std::size_t next, int room) const;
  void hold(int block, int phases, const std::vector<double>& rewards, double* values) const;
  void hold_tail(int phases, double* values) const;
  /// What a state is worth after a change to it or to one with more pieces, [state].
  struct Changed {
    std::vector<double> created;     ///< every piece more is created
    std::vector<double> given;       ///< none is
    std::vector<double> training;    ///< as created, less what retraining makes beside what stands after the change
    std::vector<double> handed_one;  ///< one takes the place of a piece that is dropped, the others are created
    std::vector<double> handed_all;  ///< the same, but the others are not created
    std::vector<double> handed_two;  ///< two take the places of dropped ones, the others are not created
  };
  void change(int boundary, const std::vector<double>& rewards, double* values);
  void add_pieces(const std::vector<double>& rewards, const double* values);
  void hand_over(int state);
  void drop_pieces(double* values);
  void take_from_training(int boundary, const std::vector<double>& rewards, double* values);
  [[nodiscard]] bool is_soon_created() const;
  void change_quickly(double* values);
  void add_gains(const std::vector<double>& gains, const std::vector<std::size_t>& begin_of, double* values) const;
  void drop(double* values) const;

  const GpuCase& case_;
  bool is_usable_ = false;
  Variants variants_;
  int services_;
  int kinds_;
  int states_ = 0;
  int phases_ = 1;                   ///< of all models together
  std::vector<int> stale_services_;  ///< whose models may be or become stale
  const PriceBound* prices_ = nullptr;
  std::vector<double> progress_scales_;               ///< [service]
  std::vector<std::vector<std::uint8_t>> reachable_;  ///< [of stale_services_][slot], a bit for each phase
  std::vector<Holdings> holdings_;                    ///< [service]
  std::vector<std::uint16_t> held_;                   ///< [state x services + service], a holding
  std::vector<int> rooms_;                            ///< [state]
  std::vector<Step> steps_;                           ///< by service
  std::vector<int> steps_begin_;                      ///< [service], services + 1
  std::vector<double> margins_;        ///< [slot x steps + step], what a piece more serves in the slots before
  std::vector<double> fresh_margins_;  ///< the same while the model is fresh; empty where all always are
  std::vector<Edge> edges_;            ///< by state
  std::vector<int> edges_begin_;       ///< [state], states + 1
  std::vector<Edge> quick_edges_;      ///< of pieces that get ready within a block
  std::vector<int> quick_begin_;       ///< [state], states + 1
  std::vector<char> may_begin_;        ///< [state], isolation and trust domains allow it
  std::vector<int> created_slots_;     ///< [service], until a piece that is created is ready
  std::vector<char> is_free_;          ///< [kind], pieces of it stand that nobody uses
  int quick_rounds_ = 0;
  std::vector<int> block_of_;      ///< [slot]
  std::vector<int> begins_;        ///< [block], and the end of the window
  std::vector<char> can_change_;   ///< [block]
  std::array<Costs, 2> costs_at_;  ///< [is_fresh]
  Costs costs_;                    ///< of a boundary and the phases of all models
  std::vector<double> dropped_;    ///< [step], what it may give beyond the boundary
  Cell cell_;                      ///< of the block after the boundary
  Cell cell_before_;               ///< of the one before
  Changed changed_;
  std::vector<char> trains_on_;      ///< [kind], some service may retrain on it
  std::vector<char> trains_beside_;  ///< [room], something could retrain beside it
  bool is_soon_created_ = false;
  double price_ = 0;                   ///< of a piece that is created or dropped where nothing is handed over
  std::vector<double> price_between_;  ///< [room x rooms + room], at least
  std::vector<double> values_;         ///< [(boundary x phases + phase) x states + state]
};

}  // namespace berth::planner
