/// A schedule as steps that can be told one by one, each with its reason in numbers.
#pragma once

#include <vector>

#include "planner/problem.h"

namespace berth::planner {

enum class StepType { kDestroy, kCreate, kAssign, kKeep };

/// Why a GPU is changed, or left alone. All in the unit of the objective.
struct StepReason {
  double gain = 0;         ///< what the plan would lose if this GPU were left alone and all else were as planned
  double cost = 0;         ///< what it would gain if the changes of this GPU took no time
  double alternative = 0;  ///< objective of the schedule in which this GPU is left alone
};

/// One step on one GPU. A step that is kept stands from slot 0 to the end of the window.
struct Step {
  StepType type = StepType::kKeep;
  int gpu = 0;
  int slot = 0;
  Piece piece;
  StepReason reason;
};

/// The steps of a schedule, by GPU; of each change first what goes, then what is cut, then who gets what; what nobody
/// touches is kept. Requires: a schedule without faults. O(GPUs x evaluation) in time.
[[nodiscard]] std::vector<Step> steps_of(const Problem& problem, const Schedule& schedule);

}  // namespace berth::planner
