/// The window problem as an integer program, solved by the library behind solver::solve_mip. A rival of our own search
/// that shares nothing with it but the problem; docs/explanation/planner.md, "As an integer program", states it as
/// formulas.
#pragma once

#include "base/solver/linear.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// How large the program of a problem is.
struct IntegerModelSize {
  int columns = 0;
  int integers = 0;
  int rows = 0;
};
[[nodiscard]] IntegerModelSize integer_model_size(const Problem& problem);

/// The best schedule that the library finds within its limits. `objective` is what `evaluate` says of it, and
/// `find_fault` has nothing to say. It is proven optimal where `bound` equals `objective` (to 1e-6 of it, the library's
/// tolerance). Where none was found: no changes, with the objective -infinity if even that is not legal.
///
/// The library does not make the program smaller first, whatever the limits say: it then loses optima, and takes
/// longer.
///
/// One GPU with 4 services and 20 slots takes seconds to minutes. `nodes` stays 0: the library does not report them.
[[nodiscard]] Answer solve_by_integer_program(const Problem& problem, const solver::MipLimits& limits);

}  // namespace berth::planner
