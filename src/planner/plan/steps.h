/// A schedule as a list of steps, each with its reason in numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "planner/plan/what_if.h"
#include "planner/window/limits.h"
#include "planner/window/problem.h"

namespace berth::planner {

enum class StepType { kDestroy, kCreate, kAssign, kKeep };

/// One step on one GPU. The slice of a `kKeep` step stays from slot 0 to the end of the window.
struct Step {
  StepType type = StepType::kKeep;
  GpuIndex gpu;
  SlotIndex slot;
  Piece piece;
  friend bool operator==(const Step&, const Step&) = default;
};

/// Why a step is taken. All in the unit of the objective.
struct StepReason {
  /// The loss of the plan without this step: its objective minus that of the best schedule found that may not take the
  /// step (Ban). Below 0 if that schedule is better than the plan. Nothing if no schedule without the step was found
  /// that keeps floors, pins and budgets.
  std::optional<double> gain = 0;
  /// The true loss is at least gain - gain_slack, because schedules without the step may be better than the one found.
  /// Nothing if not known.
  std::optional<double> gain_slack;
  double objective_instead = 0;  ///< of the schedule without the step
  std::vector<Step> instead;     ///< the steps of that schedule on this GPU
};

/// A step and its reason, as far as computed.
struct ReasonedStep {
  Step step;
  double kept_worth = 0;             ///< of a `kKeep` step: the slice's contribution, everything else as planned
  std::optional<GpuWorth> of_gpu;    ///< of other steps: the worth of all changes of the GPU
  std::optional<StepReason> reason;  ///< of other steps, if computed
};

/// The steps of a schedule, by GPU; of each change first slices destroyed, then slices created, then assignments; all
/// other slices are kept. Requires: a schedule without faults.
[[nodiscard]] std::vector<Step> steps_of(const Problem& problem, const Schedule& schedule);

/// The ban that a step breaks. Requires: not a `kKeep` step.
[[nodiscard]] Ban ban_of(StepType type);

inline constexpr std::size_t kAllReasons = std::numeric_limits<std::size_t>::max();
struct ReasonOptions {
  SearchLimits limits;                                  ///< of each search without a step
  std::size_t count = kAllReasons;                      ///< the number of steps to explain, those with the largest gain
  std::function<bool(double done)> progress = nullptr;  ///< may be empty; returns false to stop
};

struct Reasons {
  std::vector<ReasonedStep> steps;     ///< all of them, in the order of steps_of
  std::size_t computed = 0;            ///< reasons in `steps`
  std::size_t what_ifs = 0;            ///< searches without a step
  bool are_largest = true;             ///< no step without a reason has a larger gain than one with a reason
  std::optional<double> better_found;  ///< objective of the best schedule found that beats the answer
  bool is_stopped = false;             ///< by `progress`; the rest is then not complete
};

/// The steps of an answer, `count` of them with reasons.
///
/// A GPU without changes takes none of its steps, so the total gain of its changes, which is exact and fast to compute,
/// is at least the gain of each step. Steps are examined in the order of that bound (on one GPU: of an estimate, the
/// contribution of the pieces that begin by the step), until the `count`-th largest gain found is at least the bound of
/// the next step, or after 2 x `count` searches (`are_largest` is then false).
/// Costs O(pieces x slots) and those searches (what_if.h). Requires: an answer without faults, whose objective is that
/// of its schedule.
[[nodiscard]] Reasons reasons_of(const Problem& problem, const Answer& answer, const ReasonOptions& options);

}  // namespace berth::planner
