/// Collects the plans of a run as decisions, one for each GPU that a plan changes for one reason: bounded, for readers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/instant.h"
#include "domain/plan.h"
#include "measure/result.h"

namespace berth::measure {

class DecisionLog {
 public:
  /// Plans are added in order of time. Actions of one plan on one GPU with one reason are one decision, at the place of
  /// the first of them. O(actions x decisions of the plan with the same GPU).
  void add(const Plan& plan, Instant acts_at);

  /// Moves the collected decisions into `insight`.
  void move_into(Insight& insight);

 private:
  std::vector<Decision> decisions_;
  std::int64_t count_ = 0;
};

}  // namespace berth::measure
