#include "sim/world/simulated_driver.h"

#include <algorithm>

#include "domain/values/plan.h"

namespace berth::sim {

std::optional<ActionTime> SimulatedDriver::begin(const DeviceAction& action) {
  const Slice& slice = action.slice;
  if (!faults_.is_empty()) {
    if (const auto slow = faults_.begin_action(slice.gpu)) {
      return ActionTime{.duration = std::min(*slow, kActionTimeMax), .times_out = *slow > kActionTimeMax};
    }
  }
  return ActionTime{.duration = change_time(scenario_, scenario_.model_of(slice.gpu), slice.profile, action.kind)};
}

ActionResult SimulatedDriver::end(const DeviceAction& action) {
  const ActionOutcome outcome =
      faults_.is_empty() ? ActionOutcome::kDone : faults_.end_action(action.slice.gpu, action.kind);
  switch (outcome) {
    case ActionOutcome::kDone:
      break;
    case ActionOutcome::kDoneButReportedFailed:
      return {.outcome = outcome, .why = "the GPU reported a failure"};
    case ActionOutcome::kFailed: {
      const bool is_creation = action.kind == ActionKind::kCreation;
      return {.outcome = outcome, .why = is_creation ? "the GPU did not create it" : "the GPU did not destroy it"};
    }
  }
  return {};
}

}  // namespace berth::sim
