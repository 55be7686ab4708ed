/// Retrainings in the joint bound: which phases the models can be in, and what progress is worth.
///
/// Progress has the prices of a PriceBound: it is paid as it is made, by the best pieces to retrain on that fit
/// together with the state, and charged when the retraining is done.
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
  /// Keeps a pointer. Requires: prices, if some model becomes stale. The rest requires that it was called.
  void start(const PriceBound* prices);

  /// Whether the models can have these phases in a slot.
  [[nodiscard]] bool is_reachable(SlotIndex slot, PhasesIndex phases) const;
  /// A worth at slot t with what the progress of the models so far adds to it; kWorthless where models in such states
  /// cannot have these phases. `models` [service].
  [[nodiscard]] double added_to(double worth, const std::vector<ModelState>& models, SlotIndex t,
                                PhasesIndex phases) const;

  /// What is due at a slot, backward: from the worth after it to that before. `values` [phases x states + state].
  void enter(SlotIndex slot, double* values) const;
  /// At the beginning of a slot a retraining may be done; its service is then charged what it was paid for progress.
  void get_done(SlotIndex slot, double* values) const;

  /// What is paid for the progress of a slot next to each room: by the best set of retraining pieces that fits there.
  [[nodiscard]] std::vector<double> rewards_of_rooms(SlotIndex slot, PhasesIndex phases) const;
  /// What is charged for the models in training at the end of the window; infinity where one cannot be done.
  [[nodiscard]] double charge_at_end(PhasesIndex phases) const;

 private:
  [[nodiscard]] std::vector<std::uint8_t> reachable_phases(ServiceIndex service) const;
  [[nodiscard]] double price(ServiceIndex service, SlotIndex slot) const;
  [[nodiscard]] double price_in(PhaseIndex phase, ServiceIndex service, SlotIndex slot) const;
  [[nodiscard]] double best_reward(SlotIndex slot, PhasesIndex phases, std::size_t next, RoomIndex room) const;

  const GpuCase& case_;
  const JointStates& states_;
  const JointPhases& phases_;
  const PriceBound* prices_ = nullptr;                ///< not used where all models stay fresh
  std::vector<double> scales_;                        ///< [service]
  std::vector<std::vector<std::uint8_t>> reachable_;  ///< [of phases_.services()][slot], a bit for each phase
};

}  // namespace berth::planner
