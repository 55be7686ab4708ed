/// The phases of all models that may be stale, together: one number for each combination.
///
/// A model has one of three phases (fresh, stuck, training; see service_bound.h), so a combination is a number in base
/// 3 with a digit for each model that may be or become stale. This encoding is private to this class.
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
  /// The number of combinations. With more than kModelsMax models it is that of kModelsMax, which exceeds every limit
  /// of states, and the other functions must not be called.
  [[nodiscard]] int count() const { return count_; }
  static constexpr int kModelsMax = 16;

  /// The phase of a service's model; kFresh if it is never stale.
  [[nodiscard]] PhaseIndex of(PhasesIndex phases, ServiceIndex service) const {
    const int stride = stride_[service];
    return stride == 0 ? kFresh : PhaseIndex(phases / stride % kPhases);
  }
  /// The same combination with another phase of one service. Requires: its model may be stale.
  [[nodiscard]] PhasesIndex with(PhasesIndex phases, ServiceIndex service, PhaseIndex phase) const;

 private:
  static constexpr int kPhases = 3;

  std::vector<ServiceIndex> services_;
  std::vector<int> stride_;  ///< [service], the weight of its digit; 0: it has none
  int count_ = 1;
};

}  // namespace berth::planner
