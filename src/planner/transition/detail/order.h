/// The order of the steps between two plans: one slice at a time, no demand below its floor, nothing on a site that is
/// taken.
///
/// A demand's floor is min(its rate before the first step, its need). Harmless steps are always done first: a slice
/// that is no longer needed is destroyed, a new one is created if its site is free. Then the slices that block a new
/// one are destroyed if their demands do not need all of them, and GPUs that are released are emptied, unless their
/// spare rate is needed for later steps. If no such step is possible, temporary slices are created in free room, or on
/// spare GPUs, for the new slice that needs the fewest of them. Every round makes a step; O(steps x slices + deadlocks
/// x GPUs x sites).
#pragma once

#include <vector>

#include "planner/transition/detail/view.h"

namespace berth::transition::detail {

struct OrderedStep {
  StepKind kind = StepKind::kCreate;
  int gpu = 0;  ///< beyond the view's GPUs: a spare GPU
  int site = 0;
  int demand = kNone;
  int standing = kNone;  ///< for kDestroy and kRetune: the existing slice
  bool is_temporary = false;
};

struct Order {
  std::vector<OrderedStep> steps;
  std::vector<int> spare_offers;  ///< by spare GPU
};

/// The plan for the existing slices: the rate of each one that is retuned, 0 for others.
[[nodiscard]] Order order_of(const TransitionView& view, const SlicesByGpu& plan, const std::vector<Rate>& retuned);

}  // namespace berth::transition::detail
