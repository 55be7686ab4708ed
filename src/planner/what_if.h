/// What a plan would be without one of its steps: the reason of the step, in numbers that can be checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>
#include "window/limits.h"
#include "window/problem.h"

namespace berth::planner {

/// What is not allowed on one site of one GPU in the whole window.
enum class Ban {
  kBegin,    ///< this service does not begin there in this use
  kCut,      ///< no piece begins there
  kDestroy,  ///< what stands there is not destroyed; its owner may use it otherwise. An unowned piece: no change at all
};

/// The problem with a ban. Its schedules are those of `problem` that keep the ban, with the same worth.
[[nodiscard]] Problem banned(const Problem& problem, GpuIndex gpu, const Piece& piece, Ban ban);

/// What the changes of one GPU are worth beside those of all others, which stay as they are. In the objective's unit.
struct GpuWorth {
  /// What the plan loses if the GPU is left alone; nothing where floors, budgets or a retraining then break a rule.
  std::optional<double> gain;
  double cost = 0;  ///< what the plan would gain if the changes of the GPU took no time and had no price
  /// Orders GPUs by gain, those that must not be left alone first. At least the gain of each step of the GPU.
  double rank = 0;
};

/// The best schedule found that keeps a ban.
struct Alternative {
  double objective = 0;
  /// No schedule that keeps the ban and differs from the plan on this GPU alone has a larger objective; where all GPUs
  /// were solved anew, none that keeps the ban. Nothing: not known.
  std::optional<double> bound;
  std::vector<Change> changes;  ///< of the GPU of the ban
  /// The whole schedule, where it is better than the plan.
  std::optional<Schedule> better;
};

/// Asks what a plan would be without single steps. Each answer looks at the GPU of the step and the services on it
/// alone: what all others give is summed up once.
class WhatIfs {
 public:
  /// Requires: `schedule` has no fault in `problem`; both outlive this. O(pieces x slots + services x slots x samples).
  WhatIfs(const Problem& problem, const Schedule& schedule);
  WhatIfs(const WhatIfs&) = delete;
  WhatIfs& operator=(const WhatIfs&) = delete;
  ~WhatIfs();

  /// Of the plan.
  [[nodiscard]] double objective() const;

  /// What a piece of the plan brings as long as it stands: the objective less that of the plan in which it gives
  /// nothing. Exact. 0 where it is unowned. O(slots x samples).
  [[nodiscard]] double worth_of_piece(GpuIndex gpu, const Piece& piece);

  /// Exact. O(services of the GPU x slots x samples).
  [[nodiscard]] GpuWorth worth_of_changes(GpuIndex gpu);

  /// The best of: the GPU left alone; the GPU solved anew beside what the others do; in a fleet of at most
  /// kWholeFleet GPUs and kServicesAll services, all GPUs solved anew. Nothing: none was found that keeps floors, pins
  /// and budgets.
  ///
  /// With more than kServicesAll services the GPU is solved for those that stand there, are pinned there or are part of
  /// the plan there, and kServicesMore others with the largest gain per SM, with a third of the nodes; there is no
  /// bound then. Else the bound is that of the GPU beside the others, or, where all were solved anew, of all.
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
