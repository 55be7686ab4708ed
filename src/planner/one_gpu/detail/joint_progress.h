/// Retrainings in the joint bound: which phases the models can be in, and the worth of progress.
///
/// Progress has the prices of a PriceBound: it is paid as it is made, by the best retraining pieces that fit next to
/// the state, and charged when the retraining is completed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "planner/one_gpu/detail/joint_phases.h"
#include "planner/one_gpu/detail/joint_states.h"
#include "planner/one_gpu/detail/model_state.h"
#include "planner/one_gpu/detail/price_bound.h"

namespace berth::planner {

class JointProgress {
 public:
  /// Keeps references.
  JointProgress(const GpuCase& gpu_case, const JointStates& states, const JointPhases& phases);

  /// From the next `start` on the price of progress is that of the PriceBound times this factor, [service]. 1 at first.
  void set_scales(std::vector<double> scales) { scales_ = std::move(scales); }
  /// Keeps a pointer. Requires: prices, if some model becomes stale. To be called before the functions below.
  void start(const PriceBound* prices);

  /// Whether the models can have these phases in a slot.
  [[nodiscard]] bool is_reachable(SlotIndex slot, PhasesIndex phases) const;
  /// A worth at slot t plus the worth of the models' progress so far; kWorthless if models in these states cannot have
  /// these phases. `models` [service].
  [[nodiscard]] double added_to(double worth, const std::vector<ModelState>& models, SlotIndex t,
                                PhasesIndex phases) const;

  /// Applies due times at a slot, backward: from the worth after them to that before. `values` [phases x states +
  /// state].
  void enter(SlotIndex slot, double* values) const;
  /// Applies completions at the beginning of a slot; the service is then charged for the progress that it was paid for.
  void get_done(SlotIndex slot, double* values) const;

  /// The payment for the progress of a slot next to each room, by the best set of retraining pieces that fits there.
  [[nodiscard]] std::vector<double> rewards_of_rooms(SlotIndex slot, PhasesIndex phases) const;
  /// The charge for the models in training at the end of the window; infinity if one cannot be completed.
  [[nodiscard]] double charge_at_end(PhasesIndex phases) const;

 private:
  [[nodiscard]] std::vector<std::uint8_t> reachable_phases(ServiceIndex service) const;
  [[nodiscard]] double price(ServiceIndex service, SlotIndex slot) const;
  [[nodiscard]] double price_in(PhaseIndex phase, ServiceIndex service, SlotIndex slot) const;
  [[nodiscard]] double best_reward(SlotIndex slot, PhasesIndex phases, std::size_t next, RoomIndex room) const;

  const GpuCase& case_;
  const JointStates& states_;
  const JointPhases& phases_;
  const PriceBound* prices_ = nullptr;                ///< unused if all models stay fresh
  std::vector<double> scales_;                        ///< [service]
  std::vector<std::vector<std::uint8_t>> reachable_;  ///< [of phases_.services()][slot], a bit for each phase
};

}  // namespace berth::planner
