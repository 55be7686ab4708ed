#include "sim/measure/decision_log.h"

#include <algorithm>
#include <map>
#include <utility>

namespace berth::measure {
void DecisionLog::add(const Plan& plan, Instant acts_at) {
  std::map<GpuId, std::vector<std::size_t>> of_gpu;  // indices into `made`
  std::vector<Decision> made;
  for (const Action& action : plan.actions) {
    const GpuId gpu = slice_of(action.what).gpu;
    std::vector<std::size_t>& places = of_gpu[gpu];
    const auto same = std::ranges::find_if(places, [&](std::size_t at) { return made[at].reason == action.reason; });
    if (same != places.end()) {
      made[*same].steps.push_back(action.what);
      continue;
    }
    places.push_back(made.size());
    made.push_back({.acts_at = acts_at, .gpu = gpu, .reason = action.reason, .steps = {action.what}});
  }
  count_ += static_cast<std::int64_t>(made.size());
  for (Decision& decision : made) {
    if (decisions_.size() == kDecisionsMax) return;
    decisions_.push_back(std::move(decision));
  }
}

void DecisionLog::move_into(Insight& insight) {
  insight.decisions = std::move(decisions_);
  insight.decision_count = count_;
}

}  // namespace berth::measure
