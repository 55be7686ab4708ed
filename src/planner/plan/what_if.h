/// A plan without one of its steps: the reason of the step, in numbers that can be checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>
#include "planner/window/limits.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// An action that is forbidden on one site of one GPU in the whole window.
enum class Ban {
  kBegin,     ///< this service does not begin there in this use
  kAnyBegin,  ///< no piece begins there
  kDestroy,   ///< the standing piece is not destroyed (its owner may use it otherwise); unowned: no change
};

/// The problem with a ban. Its schedules are those of `problem` that keep the ban, with the same worth.
[[nodiscard]] Problem banned(const Problem& problem, GpuIndex gpu, const Piece& piece, Ban ban);

/// The worth of one GPU's changes given those of all others, in the unit of the objective.
struct GpuWorth {
  /// The loss of the plan if the GPU does not change; nothing if that breaks a rule (floors, budgets, retraining).
  std::optional<double> gain;
  double cost = 0;  ///< the gain of the plan if the changes of the GPU took no time and had no price
  /// For sorting GPUs by gain, those that must change first. At least the gain of each step of the GPU.
  double rank = 0;
};

/// The best schedule found that keeps a ban.
struct Alternative {
  double objective = 0;
  /// No schedule that keeps the ban has a larger objective, among those that differ from the plan only on this GPU or,
  /// if all GPUs were re-solved, among all. Nothing if not known.
  std::optional<double> bound;
  std::vector<Change> changes;  ///< of the GPU of the ban
  /// The whole schedule, if it is better than the plan.
  std::optional<Schedule> better;
};

/// Computes alternatives to a plan without single steps. Each answer examines only the GPU of the step and its
/// services; the capacity of all other GPUs is summed once.
class WhatIfs {
 public:
  /// Requires: `schedule` has no fault in `problem`; both outlive this. O(pieces x slots + services x slots x samples).
  WhatIfs(const Problem& problem, const Schedule& schedule);
  WhatIfs(const WhatIfs&) = delete;
  WhatIfs& operator=(const WhatIfs&) = delete;
  ~WhatIfs();

  /// The objective of the plan.
  [[nodiscard]] double objective() const;

  /// The contribution of a piece of the plan: the objective minus that of the plan in which the piece has no effect.
  /// Exact. 0 if it is unowned. O(slots x samples).
  [[nodiscard]] double worth_of_piece(GpuIndex gpu, const Piece& piece);

  /// Exact. O(services of the GPU x slots x samples).
  [[nodiscard]] GpuWorth worth_of_changes(GpuIndex gpu);

  /// The best of: the GPU without changes; the GPU re-solved with the others as planned; in a fleet of at most
  /// kWholeFleet GPUs and kServicesAll services, all GPUs re-solved. Nothing if none was found that keeps floors, pins
  /// and budgets.
  ///
  /// With more than kServicesAll services the GPU is solved for the services with pieces or pins on it or in its plan,
  /// and kServicesMore others with the largest gain per SM, with a third of the nodes, and without a bound. Otherwise
  /// the bound is that of the GPU with the others as planned or, if all were re-solved, that of all.
  static constexpr std::size_t kWholeFleet = 8;
  static constexpr std::size_t kServicesAll = 16;
  static constexpr std::size_t kServicesMore = 6;
  [[nodiscard]] std::optional<Alternative> without(GpuIndex gpu, const Piece& piece, Ban ban,
                                                   const SearchLimits& limits);

  [[nodiscard]] std::int64_t nodes() const;

 private:
  class Fleet;
  std::unique_ptr<Fleet> fleet_;
};

}  // namespace berth::planner
