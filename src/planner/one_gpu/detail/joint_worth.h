/// The worth of each holding of a service, with the best of its possible variants.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/joint_phases.h"
#include "planner/one_gpu/detail/joint_states.h"

namespace berth::planner {

class JointWorth {
 public:
  /// Keeps references. Empty if the states are not usable. O(slots x (bundles + additions)).
  JointWorth(const GpuCase& gpu_case, const JointStates& states, const JointPhases& phases);

  /// The worth of the slots before `slot`, [holding]. A model is stale only where the phases allow it.
  [[nodiscard]] const double* before(ServiceIndex service, bool is_fresh, SlotIndex slot) const {
    const HoldingWorths& of = is_fresh ? fresh_[service] : stale_[service];
    return of.sums.data() + ix(slot) * ix(states_.holdings(service));
  }
  /// The worth of the tail, [holding].
  [[nodiscard]] const std::vector<double>& tail(ServiceIndex service, bool is_fresh) const {
    return is_fresh ? fresh_[service].tail : stale_[service].tail;
  }
  /// The worth of the slots [from, to) with a fresh model.
  [[nodiscard]] double served(ServiceIndex service, HoldingIndex holding, SlotIndex from, SlotIndex to) const {
    return before(service, true, to)[holding] - before(service, true, from)[holding];
  }

  /// The least additional worth of a piece in the slots before `slot`, [addition], over all phases of its model.
  [[nodiscard]] const double* margins(SlotIndex slot) const { return row(margins_, slot); }
  /// The same in slots in which its model is fresh.
  [[nodiscard]] const double* fresh_margins(SlotIndex slot) const {
    return row(fresh_margins_.empty() ? margins_ : fresh_margins_, slot);
  }

 private:
  struct HoldingWorths {
    std::vector<double> sums;  ///< [slot x holdings + holding], of the slots before
    std::vector<double> tail;  ///< [holding]
  };

  [[nodiscard]] const double* row(const std::vector<double>& margins, SlotIndex slot) const {
    return margins.data() + ix(case_.capped(slot)) * states_.additions().size();
  }
  [[nodiscard]] HoldingWorths worth_of(ServiceIndex service, bool is_fresh) const;
  [[nodiscard]] std::vector<double> margins_where(bool is_surely_fresh) const;
  [[nodiscard]] double margin_of(const JointStates::Addition& addition, SlotIndex slot, bool is_surely_fresh) const;

  const GpuCase& case_;
  const JointStates& states_;
  std::vector<HoldingWorths> fresh_;   ///< [service]
  std::vector<HoldingWorths> stale_;   ///< [service], empty if the model is never stale
  std::vector<double> margins_;        ///< [slot x additions + addition]
  std::vector<double> fresh_margins_;  ///< the same; empty if all models are always fresh
};

}  // namespace berth::planner
