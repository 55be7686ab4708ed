/// The window problem as an integer program, solved by the library behind solver::solve_mip. A rival of our own search
/// that shares only the problem with it; docs/explanation/planner.md, "As an integer program", states it as formulas.
#pragma once

#include "base/solver/linear.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// The size of a problem's program.
struct IntegerModelSize {
  int columns = 0;
  int integers = 0;
  int rows = 0;
};
[[nodiscard]] IntegerModelSize integer_model_size(const Problem& problem);

/// The best schedule that the library finds within its limits. `objective` is the result of `evaluate`, and
/// `find_fault` finds nothing. It is proven optimal if `bound` equals `objective` (to 1e-6 of it, the library's
/// tolerance). If none was found: no changes, with the objective -infinity if even that is not legal.
///
/// The library's preprocessing is off, whatever the limits say: with it the library loses optima and takes longer.
///
/// One GPU with 4 services and 20 slots takes seconds to minutes. `nodes` stays 0: the library does not report them.
[[nodiscard]] Answer solve_by_integer_program(const Problem& problem, const solver::MipLimits& limits);

}  // namespace berth::planner
