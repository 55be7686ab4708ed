/// The phases of all models that may be stale, together: one number for each combination.
///
/// A model has one of three phases (fresh, stuck, training; see service_bound.h), so a combination is a number in base
/// 3 with a digit for each model that may be or become stale. Nothing else knows that.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/service_bound.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// The number of a combination; 0: all models are fresh.
using PhasesIndex = Index<struct PhasesTag>;

class JointPhases {
 public:
  explicit JointPhases(const Problem& problem);

  /// Services whose models may be or become stale.
  [[nodiscard]] const std::vector<ServiceIndex>& services() const { return services_; }
  [[nodiscard]] bool is_always_fresh() const { return services_.empty(); }
  /// Of combinations. For more than kModelsMax models it is that of kModelsMax, more than any limit of states, and the
  /// phases cannot be asked for.
  [[nodiscard]] int count() const { return count_; }
  static constexpr int kModelsMax = 16;

  /// The phase of a service's model; kFresh where it is never stale.
  [[nodiscard]] PhaseIndex of(PhasesIndex phases, ServiceIndex service) const {
    const int stride = stride_[service];
    return stride == 0 ? kFresh : PhaseIndex(phases / stride % kPhases);
  }
  /// The same combination, but for the phase of one service. Requires: its model may be stale.
  [[nodiscard]] PhasesIndex with(PhasesIndex phases, ServiceIndex service, PhaseIndex phase) const;

 private:
  static constexpr int kPhases = 3;

  std::vector<ServiceIndex> services_;
  std::vector<int> stride_;  ///< [service], what its digit counts for; 0: it has none
  int count_ = 1;
};

}  // namespace berth::planner
