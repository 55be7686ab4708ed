/// What a plan would be without one of its steps: the reason of the step, in numbers that can be checked.
#pragma once

#include "window/limits.h"
#include "window/problem.h"

namespace berth::planner {

/// What is not allowed on one site of one GPU in the whole window.
enum class Ban {
  kBegin,    ///< this service does not begin there in this use
  kCut,      ///< nobody begins there
  kDestroy,  ///< what stands there is not destroyed; its owner may use it otherwise. A piece of nobody: no change at
             ///< all
};

/// The problem with a ban. Its schedules are those of `problem` that keep the ban, with the same worth.
[[nodiscard]] Problem banned(const Problem& problem, int gpu, const Piece& piece, Ban ban);

/// The problem in which what stands or begins on this site of a GPU gives nothing. For judging schedules, not for
/// solving: pieces that begin there break the rules.
[[nodiscard]] Problem without_rates(const Problem& problem, int gpu, int site);

/// The best answer found that keeps a ban: the GPU is solved anew beside what the others do in `schedule`; in a fleet
/// of at most kWholeFleet GPUs all are solved anew as well. is_infeasible: nothing was found that keeps floors and
/// pins. The bound is that of the GPU alone unless all were solved anew. Requires: `schedule` has no fault in
/// `problem`.
inline constexpr int kWholeFleet = 8;
[[nodiscard]] Answer solve_without(const Problem& problem, const Schedule& schedule, int gpu, const Piece& piece,
                                   Ban ban, const SearchLimits& limits);

}  // namespace berth::planner
