/// A schedule as steps that can be told one by one, each with its reason in numbers.
#pragma once

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
  int gpu = 0;
  int slot = 0;
  Piece piece;
  friend bool operator==(const Step&, const Step&) = default;
};

/// Why a step is taken. All in the unit of the objective.
struct StepReason {
  /// What the plan would lose without this step: the best schedule found that may not take it (Ban) is worth so much
  /// less. Nothing: without it floors cannot be kept. Of a step that keeps: what the slice brings as all else is
  /// planned.
  std::optional<double> gain = 0;
  double gain_slack =
      0;            ///< the loss may be less by so much: schedules without the step may be better than the one found
  double cost = 0;  ///< what it would gain if the changes of its GPU took no time
  /// What would be done instead: the first steps on this GPU of the schedule without it, with that schedule's
  /// objective.
  std::vector<Step> instead;
  double objective_instead = 0;
  bool is_of_gpu = false;  ///< all of it is told of the changes of its GPU together: there were too many steps
};

/// A step with its reason.
struct ReasonedStep {
  Step step;
  StepReason reason;
};

/// The steps of a schedule, by GPU; of each change first what goes, then what is cut, then who gets what; what nobody
/// touches is kept. Requires: a schedule without faults.
[[nodiscard]] std::vector<Step> steps_of(const Problem& problem, const Schedule& schedule);

/// The ban that a step breaks. Requires: it is not one that keeps.
[[nodiscard]] Ban ban_of(StepType type);

/// The steps with their reasons. Each of the first kReasonedSteps steps that change something is forbidden in turn and
/// the plan solved again (`limits` each time); the later ones are told by GPU: what leaving it alone would lose.
inline constexpr int kReasonedSteps = 100;
[[nodiscard]] std::vector<ReasonedStep> reasons_of(const Problem& problem, const Answer& answer,
                                                   const SearchLimits& limits);

/// An answer and the reasons of its steps.
struct ReasonedAnswer {
  Answer answer;
  std::vector<ReasonedStep> steps;
};

/// The reasons of the answer, or of a better one: a search without a step starts elsewhere, so at times it ends with a
/// schedule that is worth more than the one with the step. The best of these takes the answer's place and is told anew,
/// up to kBetterAnswers times; after the last time a gain may still be negative. The bound is as before, the nodes
/// include those of the reasons that led to a better answer. Requires: a schedule without faults. Costs up to
/// kBetterAnswers + 1 times reasons_of.
inline constexpr int kBetterAnswers = 5;
[[nodiscard]] ReasonedAnswer best_with_reasons(const Problem& problem, Answer answer, const SearchLimits& limits);

}  // namespace berth::planner
