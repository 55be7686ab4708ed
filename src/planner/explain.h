/// The arithmetic behind a schedule: what each service gets, and what a slice more or less would change.
#pragma once

#include <optional>
#include <vector>

#include "window/check.h"
#include "window/problem.h"

namespace berth::planner {

/// What the objective would gain if a service had one slice of a kind more from slot 0 to the end, or lose if one that
/// it has in the end gave nothing as long as it has it.
struct SliceStep {
  ModelIndex model;
  KindIndex kind;
  double requests_per_second = 0;
  double change = 0;  ///< of the objective, by all else as planned
};

/// Means over the slots of the window.
struct ServiceShare {
  double forecast = 0;                ///< requests a second
  double capacity = 0;                ///< requests a second of slices that are ready
  double served = 0;                  ///< expected answers in time a second
  double value = 0;                   ///< of the window and the tail, in the objective's unit
  std::optional<SliceStep> one_more;  ///< the kind that would gain most per SM, if any would
  std::optional<SliceStep> one_less;  ///< of the slices that it has in the end, the one that it would miss least
};

/// By service. Requires: a schedule without faults. O((pieces + services x kinds) x slots x samples).
[[nodiscard]] std::vector<ServiceShare> explain_shares(const Problem& problem, const Schedule& schedule);

}  // namespace berth::planner
