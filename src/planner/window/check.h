/// The independent checker of schedules of the window problem. It shares no code with the solvers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/window/problem.h"

namespace berth::planner {

/// Why a schedule cannot be carried out (a clash, a change while another is in progress, in a frozen slot, a floor, a
/// pin, a budget, isolation, two retraining pieces of one service ...), or nothing. O(slots x pieces).
[[nodiscard]] std::optional<std::string> find_fault(const Problem& problem, const Schedule& schedule);

/// The figures of a service in one slot of a schedule.
struct SlotFigures {
  double capacity = 0;  ///< requests per second, all variants together
  double served = 0;    ///< expected answers in time
  double value = 0;
  bool is_fresh = true;
};

/// The objective of a schedule and its parts. Requires: find_fault finds nothing.
struct Evaluation {
  double objective = 0;
  std::vector<std::vector<SlotFigures>> services;  ///< [service][slot], slot = slots is the tail (of one second)
  std::vector<double> model_value;                 ///< [service]: of progress, or of freshness beyond the tail
};
[[nodiscard]] Evaluation evaluate(const Problem& problem, const Schedule& schedule);

/// The number of slots until a piece of `to` is ready after a change from `from`; 0 if it continues.
[[nodiscard]] int slots_until_ready(const Problem& problem, const ModelTerms& model, const Configuration& from,
                                    const Piece& piece);

}  // namespace berth::planner
