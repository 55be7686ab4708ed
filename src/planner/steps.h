/// A schedule as steps, one by one, each with its reason in numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "planner/what_if.h"
#include "window/limits.h"
#include "window/problem.h"

namespace berth::planner {

enum class StepType { kDestroy, kCreate, kAssign, kKeep };

/// One step on one GPU. A step that is kept stands from slot 0 to the end of the window.
struct Step {
  StepType type = StepType::kKeep;
  GpuIndex gpu;
  SlotIndex slot;
  Piece piece;
  friend bool operator==(const Step&, const Step&) = default;
};

/// Why a step is taken. All in the unit of the objective.
struct StepReason {
  /// What the plan would lose without this step: the best schedule found that may not take it (Ban) is worth so much
  /// less. Below 0: that schedule is better than the plan. Nothing: without the step floors, pins or budgets cannot be
  /// kept.
  std::optional<double> gain = 0;
  /// The loss may be less by so much: schedules without the step may be better than the one found. Nothing: not known.
  std::optional<double> gain_slack;
  double objective_instead = 0;  ///< of the schedule without the step
  std::vector<Step> instead;     ///< what that schedule does on this GPU
};

/// A step with what is known of its reason.
struct ReasonedStep {
  Step step;
  double kept_worth = 0;             ///< of a step that keeps: what the slice brings, all else as planned
  std::optional<GpuWorth> of_gpu;    ///< of the others: what all changes of its GPU are worth
  std::optional<StepReason> reason;  ///< of the others, where it was computed
};

/// The steps of a schedule, by GPU; of each change first what goes, then what is created, then who gets what; what no
/// step touches is kept. Requires: a schedule without faults.
[[nodiscard]] std::vector<Step> steps_of(const Problem& problem, const Schedule& schedule);

/// The ban that a step breaks. Requires: it is not one that keeps.
[[nodiscard]] Ban ban_of(StepType type);

inline constexpr std::size_t kAllReasons = std::numeric_limits<std::size_t>::max();
struct ReasonOptions {
  SearchLimits limits;                                  ///< of each search without a step
  std::size_t count = kAllReasons;                      ///< steps whose reasons are wanted, those with the largest gain
  std::function<bool(double done)> progress = nullptr;  ///< may be empty; returns false to stop
};

struct Reasons {
  std::vector<ReasonedStep> steps;     ///< all of them, in the order of steps_of
  std::size_t computed = 0;            ///< reasons in `steps`
  std::size_t what_ifs = 0;            ///< searches without a step
  bool are_largest = true;             ///< no step without a reason has a larger gain than one that has its reason
  std::optional<double> better_found;  ///< objective of the best schedule found that is worth more than the answer
  bool is_stopped = false;             ///< by `progress`; the rest is then not complete
};

/// The steps of an answer, `count` of them with reasons.
///
/// A GPU left alone takes none of its steps, so what its changes gain together, which is exact and quick, is at least
/// the gain of each of them. The steps are searched without in the order of that bound (on one GPU: of what the pieces
/// bring that begin by the step, an estimate), until the `count`-th largest gain found is no less than the bound of the
/// next step, or after 2 x `count` searches (`are_largest` is then false).
/// Costs O(pieces x slots) and those searches (what_if.h). Requires: an answer without faults, whose objective is that
/// of its schedule.
[[nodiscard]] Reasons reasons_of(const Problem& problem, const Answer& answer, const ReasonOptions& options);

}  // namespace berth::planner
