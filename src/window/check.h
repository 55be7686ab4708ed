/// Judges schedules of the window problem. It shares no code with the solvers: they are checked by it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "window/problem.h"

namespace berth::planner {

/// Why a schedule cannot be carried out (a clash, a change while another is under way, in a frozen slot, a floor, a
/// pin, a budget, isolation, two retraining pieces of one service ...), or nothing. O(slots x pieces).
[[nodiscard]] std::optional<std::string> find_fault(const Problem& problem, const Schedule& schedule);

/// What a service gets in one slot under a schedule.
struct SlotFigures {
  double capacity = 0;  ///< requests a second, all variants
  double served = 0;    ///< expected answers in time
  double value = 0;
  bool is_fresh = true;
};

/// The objective of a schedule and where it comes from. Requires: find_fault has nothing to say.
struct Evaluation {
  double objective = 0;
  std::vector<std::vector<SlotFigures>> services;  ///< [service][slot], slot = slots is the tail (of one second)
  std::vector<double> model_value;                 ///< [service]: of progress at the end, or of a model fresh beyond
};
[[nodiscard]] Evaluation evaluate(const Problem& problem, const Schedule& schedule);

/// Slots that a piece of `to` gives nothing after a change from `from`; 0: it goes on.
[[nodiscard]] int slots_until_ready(const Problem& problem, const ModelTerms& model, const Configuration& from,
                                    const Piece& piece);

}  // namespace berth::planner
