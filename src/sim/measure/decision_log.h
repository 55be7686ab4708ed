/// Collects the plans of a run as decisions for reports: one for each GPU that a plan changes for one reason. Memory is
/// bounded.
#pragma once

#include <cstdint>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "sim/measure/result.h"

namespace berth::measure {

class DecisionLog {
 public:
  /// Adds a plan. Actions of one plan on one GPU with one reason become one decision, placed at the first of them.
  /// O(actions x decisions of the plan with the same GPU). Requires: plans are added in order of time.
  void add(const Plan& plan, Instant acts_at);

  /// Moves the collected decisions into `insight`.
  void move_into(Insight& insight);

 private:
  std::vector<Decision> decisions_;
  std::int64_t count_ = 0;
};

}  // namespace berth::measure
