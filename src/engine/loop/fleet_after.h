/// The slices that exist after a plan is carried out, as computed by the checkers, which share no code with the
/// planners.
#pragma once

#include <map>
#include <vector>

#include "domain/values/plan.h"
#include "domain/values/slice.h"
#include "domain/values/snapshot.h"

namespace berth {

/// The fleet while the actions of a plan are applied one by one, without the slices that are leaving when it is made.
class FleetAfter {
 public:
  explicit FleetAfter(const Snapshot& snapshot);
  /// Only the GPUs on which the plan has actions: much cheaper for a large fleet.
  FleetAfter(const Snapshot& snapshot, const Plan& plan);

  /// Applies an action, and returns whether it could begin: a slice to create must not exist yet, any other one must.
  bool apply(const Action& action);

  [[nodiscard]] const std::map<Slice, Allocation>& slices() const { return slices_; }
  /// By start.
  [[nodiscard]] std::vector<Slice> slices_on(GpuId gpu) const;

 private:
  std::map<Slice, Allocation> slices_;
};

}  // namespace berth
